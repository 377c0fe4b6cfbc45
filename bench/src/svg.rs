//! A plot with lines.

use std::fmt::Write;

/// Lines by name: their points, from left to right.
#[derive(Debug)]
pub struct Plot {
    pub title: String,
    pub x: &'static str,
    pub y: &'static str,
    /// The horizontal axis is logarithmic; it begins at the first point greater than 0.
    pub log_x: bool,
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
/// Left, right, top and bottom.
const MARGIN: [f64; 4] = [60.0, 205.0, 40.0, 50.0];
const COLOURS: [&str; 8] =
    ["#777777", "#d95f02", "#1b6ca8", "#2a9d4a", "#8e44ad", "#c0392b", "#b8860b", "#17a2a2"];
/// Lines beyond the colours are dashed in further ways.
const DASHES: [&str; 3] = ["", "6 3", "2 3"];

/// Values at 1, 2, 3, ... as points.
pub fn counted(values: Vec<f64>) -> Vec<(f64, f64)> {
    values.into_iter().enumerate().map(|(i, v)| (i as f64 + 1.0, v)).collect()
}

impl Plot {
    /// As SVG.
    pub fn render(&self) -> String {
        let [left, right, top, bottom] = MARGIN;
        let points = || self.lines.iter().flat_map(|(_, l)| l).copied();
        let (low, high) =
            (points().map(|p| p.1).fold(f64::MAX, f64::min), points().map(|p| p.1).fold(f64::MIN, f64::max));
        let step = tick(high - low);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        let xs = || points().map(|p| p.0).filter(|x| !self.log_x || *x > 0.0);
        let (first, last) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
        let scale = |x: f64| if self.log_x { x.max(first).log10() } else { x };
        let span = (scale(last) - scale(first)).max(1e-9);
        let at_x = |x: f64| left + (scale(x) - scale(first)) / span * (WIDTH - left - right);
        let at_y = |v: f64| HEIGHT - bottom - (v - low) / (high - low).max(1e-9) * (HEIGHT - top - bottom);
        let mut s = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{left}\" y=\"22\" font-size=\"15\">{}</text>\n",
            self.title
        );
        let ticks = ((high - low) / step).round() as u32;
        for i in 0..=ticks {
            let v = low + f64::from(i) * step;
            let y = at_y(v);
            let label = if step < 1.0 { format!("{v:.2}") } else { format!("{v:.0}") };
            let _ = writeln!(
                s,
                "<line x1=\"{left}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - right,
                left - 6.0,
                y + 4.0
            );
        }
        for x in self.marks(first, last) {
            let (at, y) = (at_x(x), HEIGHT - bottom + 18.0);
            let digits = if self.log_x { (-x.log10()).ceil().max(0.0) as usize } else { 0 };
            let label = format!("{x:.digits$}");
            // The legend begins right of the plot.
            let anchor = if at > WIDTH - right - 20.0 { "end" } else { "middle" };
            let _ = writeln!(s, "<text x=\"{at:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{label}</text>");
        }
        let middle = (left + WIDTH - right) / 2.0;
        let _ = writeln!(
            s,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 12.0,
            self.x,
            (top + HEIGHT - bottom) / 2.0,
            self.y
        );
        let distance = (20.0f64).min((HEIGHT - top - 20.0) / self.lines.len().max(1) as f64);
        for (i, (name, line)) in self.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let dash = DASHES[i / COLOURS.len() % DASHES.len()];
            let points: Vec<String> =
                line.iter().map(|(x, v)| format!("{:.1},{:.1}", at_x(*x), at_y(*v))).collect();
            let _ = writeln!(
                s,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dash}\"/>",
                points.join(" ")
            );
            let (x, y) = (WIDTH - right + 10.0, top + 4.0 + distance * i as f64);
            let _ = writeln!(
                s,
                "<line x1=\"{x}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"/>\
                 <text x=\"{}\" y=\"{:.1}\">{name}</text>",
                x + 22.0,
                x + 28.0,
                y + 4.0
            );
        }
        s += "</svg>\n";
        s
    }

    /// Where the horizontal axis is labelled.
    fn marks(&self, first: f64, last: f64) -> Vec<f64> {
        if !self.log_x {
            return (0..=5).map(|i| (first + f64::from(i) * (last - first) / 5.0).round()).collect();
        }
        let powers = first.log10().floor() as i32..=last.log10().ceil() as i32;
        let marks = powers.flat_map(|p| [1.0, 3.0].map(|m| m * 10f64.powi(p)));
        marks.filter(|x| (first * 0.999..=last * 1.001).contains(x)).collect()
    }
}

/// A round distance between ticks, for about six of them.
fn tick(span: f64) -> f64 {
    let rough = (span / 6.0).max(1e-3);
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|t| *t >= rough).unwrap_or(rough)
}
