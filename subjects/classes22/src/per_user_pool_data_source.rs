//! V1, Commons DBCP 1.4 `PerUserPoolDataSource`: a registry is locked by those who enter and not by those who leave.

use std::sync::Arc;

use crate::instance_keys::InstanceKeys;
use crate::java::{Field, locked_twin, properties};

/// A source of pooled connections.
///
/// *Shared*: the registry of all sources, static in the original and handed in here; the instance's key, the name of and the
/// reference to what it connects to, the flag that a connection was requested; plain properties.
/// *Locking*: registering holds the registry's monitor; nothing else is locked.
/// *Bug*: [`set_data_source_name`](PerUserPoolDataSource::set_data_source_name) or
/// [`set_connection_pool_data_source`](PerUserPoolDataSource::set_connection_pool_data_source) iterates the registry while
/// [`close`](PerUserPoolDataSource::close) of a source that is registered removes its key: the iterator gives up.
#[derive(Debug)]
pub struct PerUserPoolDataSource {
    registry: Arc<InstanceKeys>,
    instance_key: Field,
    data_source_name: Field,
    data_source: Field,
    get_connection_called: Field,
    properties: Properties,
}

impl PerUserPoolDataSource {
    /// A source that registers itself, once it is given something to connect to, in a registry that others share.
    pub fn new(registry: Arc<InstanceKeys>) -> PerUserPoolDataSource {
        PerUserPoolDataSource {
            registry,
            instance_key: Field::default(),
            data_source_name: Field::default(),
            data_source: Field::default(),
            get_connection_called: Field::default(),
            properties: Properties::default(),
        }
    }

    fn assert_settable(&self) {
        assert!(
            self.get_connection_called.get().is_none(),
            "IllegalStateException: a connection was requested"
        );
        assert!(self.data_source.get().is_none(), "IllegalStateException: a data source is set");
        assert!(self.data_source_name.get().is_none(), "IllegalStateException: the name is set");
    }

    /// Connects through a name; panics if something has been set before.
    pub fn set_data_source_name(&self, name: i32) {
        self.assert_settable();
        self.data_source_name.set(Some(name));
        self.instance_key.set(Some(self.registry.register()));
    }

    /// Connects through a data source; panics if something has been set before.
    pub fn set_connection_pool_data_source(&self, source: i32) {
        self.assert_settable();
        self.data_source.set(Some(source));
        self.instance_key.set(Some(self.registry.register()));
    }

    /// The name that was set.
    pub fn data_source_name(&self) -> Option<i32> {
        self.data_source_name.get()
    }

    /// The data source that was set.
    pub fn connection_pool_data_source(&self) -> Option<i32> {
        self.data_source.get()
    }

    /// The key under which the source is registered.
    pub fn instance_key(&self) -> Option<i32> {
        self.instance_key.get()
    }

    /// Requests a connection; panics if the source is not registered.
    pub fn connection(&self) -> i32 {
        let key = self.instance_key.get().expect("IllegalStateException: nothing to connect to");
        self.get_connection_called.set(Some(1));
        key
    }

    /// The number of connections in use: the re-creation keeps none.
    pub fn num_active(&self) -> i32 {
        0
    }

    /// The number of connections not in use: the re-creation keeps none.
    pub fn num_idle(&self) -> i32 {
        0
    }

    /// Leaves the registry, without its lock.
    pub fn close(&self) {
        self.leave(InstanceKeys::remove);
    }

    fn leave(&self, remove: fn(&InstanceKeys, i32)) {
        if let Some(key) = self.instance_key.get() {
            remove(&self.registry, key);
        }
    }
}

locked_twin! {
    PerUserPoolDataSourceFixed of PerUserPoolDataSource, new(registry: Arc<InstanceKeys>) {
        fn set_data_source_name(&self, name: i32);
        fn set_connection_pool_data_source(&self, source: i32);
        fn data_source_name(&self) -> Option<i32>;
        fn connection_pool_data_source(&self) -> Option<i32>;
        fn instance_key(&self) -> Option<i32>;
        fn connection(&self) -> i32;
        fn num_active(&self) -> i32;
        fn num_idle(&self) -> i32;
    }
}

impl PerUserPoolDataSourceFixed {
    /// Leaves the registry, with its lock.
    pub fn close(&self) {
        let _alone = crate::java::enter(&self.lock);
        self.inner.leave(InstanceKeys::remove_locked);
    }
}

properties! {
    Properties of PerUserPoolDataSource and PerUserPoolDataSourceFixed {
        class_loader/set_class_loader,
        connection_validation/set_connection_validation,
        default_auto_commit/set_default_auto_commit,
        default_max_active/set_default_max_active,
        default_max_idle/set_default_max_idle,
        default_max_wait/set_default_max_wait,
        default_read_only/set_default_read_only,
        default_transaction_isolation/set_default_transaction_isolation,
        description/set_description,
        factory_name/set_factory_name,
        jndi_environment/set_jndi_environment,
        log_writer/set_log_writer,
        login_timeout/set_login_timeout,
        min_evictable_idle_time/set_min_evictable_idle_time,
        num_tests_per_eviction_run/set_num_tests_per_eviction_run,
        per_user_auto_commit/set_per_user_auto_commit,
        per_user_max_active/set_per_user_max_active,
        per_user_max_idle/set_per_user_max_idle,
        per_user_max_wait/set_per_user_max_wait,
        per_user_read_only/set_per_user_read_only,
        per_user_transaction_isolation/set_per_user_transaction_isolation,
        rollback_after_validation/set_rollback_after_validation,
        test_on_borrow/set_test_on_borrow,
        test_on_idle/set_test_on_idle,
        test_on_return/set_test_on_return,
        time_between_eviction_runs/set_time_between_eviction_runs,
        user_password/set_user_password,
        validation_query/set_validation_query,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_once_and_leaves_on_closing() {
        let registry = Arc::new(InstanceKeys::new());
        let (one, other) = (
            PerUserPoolDataSource::new(Arc::clone(&registry)),
            PerUserPoolDataSourceFixed::new(Arc::clone(&registry)),
        );
        one.set_data_source_name(5);
        other.set_connection_pool_data_source(6);
        assert_eq!((one.instance_key(), other.instance_key()), (Some(1), Some(2)));
        assert_eq!(one.connection(), 1);
        one.close();
        assert_eq!(registry.len(), 1);
        other.close();
        assert!(registry.is_empty());
    }

    #[test]
    #[should_panic(expected = "IllegalStateException")]
    fn cannot_be_set_twice() {
        let source = PerUserPoolDataSource::new(Arc::new(InstanceKeys::new()));
        source.set_data_source_name(1);
        source.set_data_source_name(1);
    }
}
