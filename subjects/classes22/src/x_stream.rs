//! V20, XStream 1.4.1: the library under it hands out one cached writer to everybody.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::java::{Field, enter, locked_twin, properties};

/// What marks the beginning of a document.
const HEADER: i32 = -1;

/// The writer that the factory keeps for the next request. Its target is the number of a document.
#[derive(Debug, Default)]
struct CachedWriter {
    reusable: AtomicBool,
    target: Field,
}

/// A serialiser whose objects are numbers.
///
/// *Shared*: `output_factory`, made when first needed (tested and written without a lock); the factory's cached writer,
/// which is re-initialised for each request; the documents written, under a lock; plain properties.
/// *Locking*: none around factory and writer.
/// *Bug*: two calls that serialise get the same writer. One resets its target to null while the other writes the header: a
/// null dereference; or one's output ends up in the other's document.
#[derive(Debug, Default)]
pub struct XStream {
    output_factory: Field,
    writer: CachedWriter,
    documents: Mutex<Vec<Vec<i32>>>,
    properties: Properties,
}

impl XStream {
    /// A serialiser that has made nothing yet.
    pub fn new() -> XStream {
        XStream::default()
    }

    fn new_document(&self) -> i32 {
        let mut documents = enter(&self.documents);
        documents.push(Vec::new());
        documents.len() as i32 - 1
    }

    fn document(&self, number: i32) -> Vec<i32> {
        enter(&self.documents)[number as usize].clone()
    }

    fn ensure_factory(&self) {
        if self.output_factory.get().is_none() {
            self.output_factory.set(Some(1));
        }
        self.output_factory.deref("outputFactory");
    }

    /// Asks the factory for a writer: the cached one is reset before it gets its target.
    fn writer_to(&self, document: i32) -> &CachedWriter {
        self.ensure_factory();
        if self.writer.reusable.load(Relaxed) {
            self.writer.target.set(None);
        }
        self.writer.target.set(Some(document));
        self.writer.reusable.store(true, Relaxed);
        &self.writer
    }

    fn write(&self, writer: &CachedWriter, what: i32) {
        let target = writer.target.deref("the writer's target");
        enter(&self.documents)[target as usize].push(what);
    }

    /// Serialises an object into a document of its own.
    pub fn to_xml(&self, object: i32) -> Vec<i32> {
        let document = self.new_document();
        let writer = self.writer_to(document);
        self.write(writer, HEADER);
        self.write(writer, object);
        self.document(document)
    }

    /// Serialises an object without a header.
    pub fn marshal(&self, object: i32) -> Vec<i32> {
        let document = self.new_document();
        let writer = self.writer_to(document);
        self.write(writer, object);
        self.document(document)
    }

    /// Starts a document to which objects can be added, and returns its number.
    pub fn create_object_output_stream(&self) -> i32 {
        let document = self.new_document();
        let writer = self.writer_to(document);
        self.write(writer, HEADER);
        document
    }

    /// Reads the object of a document; `None` if it is not well formed.
    pub fn from_xml(&self, document: Vec<i32>) -> Option<i32> {
        match document[..] {
            [HEADER, object] => Some(object),
            _ => None,
        }
    }

    /// Reads an object that was written without a header.
    pub fn unmarshal(&self, document: Vec<i32>) -> Option<i32> {
        match document[..] {
            [object] => Some(object),
            _ => None,
        }
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        enter(&self.documents).len()
    }
}

locked_twin! {
    XStreamFixed of XStream, new() {
        fn to_xml(&self, object: i32) -> Vec<i32>;
        fn marshal(&self, object: i32) -> Vec<i32>;
        fn create_object_output_stream(&self) -> i32;
        fn from_xml(&self, document: Vec<i32>) -> Option<i32>;
        fn unmarshal(&self, document: Vec<i32>) -> Option<i32>;
        fn documents(&self) -> usize;
    }
}

properties! {
    Properties of XStream and XStreamFixed {
        alias/set_alias,
        alias_attribute/set_alias_attribute,
        alias_field/set_alias_field,
        alias_package/set_alias_package,
        alias_system_attribute/set_alias_system_attribute,
        alias_type/set_alias_type,
        annotations/set_annotations,
        attribute_for/set_attribute_for,
        auto_detect/set_auto_detect,
        class_loader/set_class_loader,
        class_loader_reference/set_class_loader_reference,
        converter_lookup/set_converter_lookup,
        converter_registry/set_converter_registry,
        default_converter/set_default_converter,
        default_implementation/set_default_implementation,
        driver/set_driver,
        immutable_type/set_immutable_type,
        implicit_array/set_implicit_array,
        implicit_collection/set_implicit_collection,
        local_converter/set_local_converter,
        mapper/set_mapper,
        marshalling_strategy/set_marshalling_strategy,
        mode/set_mode,
        omitted_field/set_omitted_field,
        reflection_provider/set_reflection_provider,
        registered_converter/set_registered_converter,
        single_value_converter/set_single_value_converter,
        unmarshalling_options/set_unmarshalling_options,
        xstream_alias_type/set_xstream_alias_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_has_written() {
        let stream = XStream::new();
        assert_eq!(stream.from_xml(stream.to_xml(5)), Some(5));
        assert_eq!(stream.unmarshal(stream.marshal(6)), Some(6));
        assert_eq!(stream.from_xml(stream.marshal(6)), None);
        assert_eq!(stream.create_object_output_stream(), 3);
        assert_eq!(stream.documents(), 4);
    }
}
