//! V2, Commons DBCP 1.4 `SharedPoolDataSource`: a registry is locked by those who enter and not by those who leave.

use std::sync::{Arc, Mutex};

use crate::instance_keys::InstanceKeys;
use crate::java::{Field, enter, locked_twin, properties};

/// A source of pooled connections.
///
/// *Shared*: the registry of all sources, static in the original and handed in here; the instance's key, the name of and the
/// reference to what it connects to, the flag that a connection was requested, the lazily made pool; plain properties.
/// *Locking*: registering holds the registry's monitor; the making of the pool holds the instance's monitor; nothing else is locked.
/// *Bug*: [`set_data_source_name`](SharedPoolDataSource::set_data_source_name) or
/// [`set_connection_pool_data_source`](SharedPoolDataSource::set_connection_pool_data_source) iterates the registry while
/// [`close`](SharedPoolDataSource::close) of a source that is registered removes its key: the iterator gives up.
/// [`num_active`] and [`num_idle`] test the pool and read it again without a lock, while closing resets it: a second window.
///
/// [`num_active`]: SharedPoolDataSource::num_active
/// [`num_idle`]: SharedPoolDataSource::num_idle
#[derive(Debug)]
pub struct SharedPoolDataSource {
    registry: Arc<InstanceKeys>,
    instance_key: Field,
    data_source_name: Field,
    data_source: Field,
    get_connection_called: Field,
    monitor: Mutex<()>,
    pool: Field,
    properties: Properties,
}

impl SharedPoolDataSource {
    /// A source that registers itself, once it is given something to connect to, in a registry that others share.
    pub fn new(registry: Arc<InstanceKeys>) -> SharedPoolDataSource {
        SharedPoolDataSource {
            registry,
            instance_key: Field::default(),
            data_source_name: Field::default(),
            data_source: Field::default(),
            get_connection_called: Field::default(),
            monitor: Mutex::new(()),
            pool: Field::default(),
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
        let own = enter(&self.monitor);
        if self.pool.get().is_none() {
            self.pool.set(Some(0));
        }
        self.pool.set(Some(self.pool.deref("pool") + 1));
        drop(own);
        self.get_connection_called.set(Some(1));
        key
    }

    /// The number of connections in use.
    pub fn num_active(&self) -> i32 {
        if self.pool.get().is_none() { 0 } else { self.pool.deref("pool") }
    }

    /// The number of connections not in use: the pool keeps none.
    pub fn num_idle(&self) -> i32 {
        if self.pool.get().is_some() {
            self.pool.deref("pool");
        }
        0
    }

    /// Leaves the registry, without its lock.
    pub fn close(&self) {
        self.leave(InstanceKeys::remove);
    }

    fn leave(&self, remove: fn(&InstanceKeys, i32)) {
        if self.pool.get().is_some() {
            self.pool.set(None);
        }
        if let Some(key) = self.instance_key.get() {
            remove(&self.registry, key);
        }
    }
}

locked_twin! {
    SharedPoolDataSourceFixed of SharedPoolDataSource, new(registry: Arc<InstanceKeys>) {
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

impl SharedPoolDataSourceFixed {
    /// Leaves the registry, with its lock.
    pub fn close(&self) {
        let _alone = crate::java::enter(&self.lock);
        self.inner.leave(InstanceKeys::remove_locked);
    }
}

properties! {
    Properties of SharedPoolDataSource and SharedPoolDataSourceFixed {
        class_loader/set_class_loader,
        default_auto_commit/set_default_auto_commit,
        default_read_only/set_default_read_only,
        default_transaction_isolation/set_default_transaction_isolation,
        description/set_description,
        jndi_environment/set_jndi_environment,
        log_writer/set_log_writer,
        login_timeout/set_login_timeout,
        max_active/set_max_active,
        max_idle/set_max_idle,
        max_wait/set_max_wait,
        min_evictable_idle_time/set_min_evictable_idle_time,
        num_tests_per_eviction_run/set_num_tests_per_eviction_run,
        rollback_after_validation/set_rollback_after_validation,
        test_on_borrow/set_test_on_borrow,
        test_on_idle/set_test_on_idle,
        test_on_return/set_test_on_return,
        time_between_eviction_runs/set_time_between_eviction_runs,
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
            SharedPoolDataSource::new(Arc::clone(&registry)),
            SharedPoolDataSourceFixed::new(Arc::clone(&registry)),
        );
        one.set_data_source_name(5);
        other.set_connection_pool_data_source(6);
        assert_eq!((one.instance_key(), other.instance_key()), (Some(1), Some(2)));
        assert_eq!(one.connection(), 1);
        assert_eq!((one.num_active(), one.num_idle()), (1, 0));
        one.close();
        assert_eq!(registry.len(), 1);
        other.close();
        assert!(registry.is_empty());
    }

    #[test]
    #[should_panic(expected = "IllegalStateException")]
    fn cannot_be_set_twice() {
        let source = SharedPoolDataSource::new(Arc::new(InstanceKeys::new()));
        source.set_data_source_name(1);
        source.set_data_source_name(1);
    }
}
