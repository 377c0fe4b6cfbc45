//! A plot with a few lines.

use std::fmt::Write;

/// Lines by name: their values at 1, 2, 3, ...
#[derive(Debug)]
pub struct Plot {
    pub title: &'static str,
    pub x: &'static str,
    pub y: &'static str,
    pub lines: Vec<(String, Vec<f64>)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// Left, right, top and bottom.
const MARGIN: [f64; 4] = [60.0, 110.0, 40.0, 50.0];
const COLOURS: [&str; 4] = ["#777777", "#d95f02", "#1b6ca8", "#2a9d4a"];

impl Plot {
    /// As SVG.
    pub fn render(&self) -> String {
        let [left, right, top, bottom] = MARGIN;
        let values = || self.lines.iter().flat_map(|(_, l)| l).copied();
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        let step = tick(high - low);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        let longest = self.lines.iter().map(|(_, l)| l.len()).max().unwrap_or(1).max(2) as f64;
        let at_x = |n: f64| left + (n - 1.0) / (longest - 1.0) * (WIDTH - left - right);
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
        for i in 0..=5 {
            let n = (1.0 + f64::from(i) * (longest - 1.0) / 5.0).round();
            let (x, y) = (at_x(n), HEIGHT - bottom + 18.0);
            let _ = writeln!(s, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{n}</text>");
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
        for (i, (name, line)) in self.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let point = |(n, v): (usize, &f64)| format!("{:.1},{:.1}", at_x(n as f64 + 1.0), at_y(*v));
            let points: Vec<String> = line.iter().enumerate().map(point).collect();
            let _ = writeln!(
                s,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"/>",
                points.join(" ")
            );
            let (x, y) = (WIDTH - right + 10.0, top + 10.0 + 20.0 * i as f64);
            let _ = writeln!(
                s,
                "<line x1=\"{x}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"3\"/>\
                 <text x=\"{}\" y=\"{}\">{name}</text>",
                x + 18.0,
                x + 24.0,
                y + 4.0
            );
        }
        s += "</svg>\n";
        s
    }
}

/// A round distance between ticks, for about six of them.
fn tick(span: f64) -> f64 {
    let rough = (span / 6.0).max(1e-3);
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|t| *t >= rough).unwrap_or(rough)
}
