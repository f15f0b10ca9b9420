//! Who asks. There may be hundreds of thousands of clients, so what few of them have takes room in those alone.

use std::net::IpAddr;

use foldhash::fast::FixedState;
use indexmap::IndexSet;

/// The clients of a run by number.
pub type Clients = IndexSet<Client, FixedState>;

/// Who asks. Two clients are the same if all of this is the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    /// Its name in tables and files.
    pub name: String,
    /// Its network address.
    pub address: Option<IpAddr>,
    /// `None` where there is nothing in it.
    account: Option<Box<Account>>,
}

/// What a service knows of a client that has registered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Account {
    /// Its API key.
    pub api_key: Option<String>,
    /// The organisation it belongs to.
    pub tenant: Option<String>,
    /// The plan it pays for.
    pub tier: Option<String>,
}

impl Client {
    /// One of whom no more is known.
    pub fn new(name: String, address: Option<IpAddr>) -> Client {
        Client { name, address, account: None }
    }

    /// The same with an account.
    pub fn with(self, account: Account) -> Client {
        let known = account != Account::default();
        Client { account: known.then(|| Box::new(account)), ..self }
    }

    /// Its API key.
    pub fn api_key(&self) -> Option<&str> {
        self.account.as_ref()?.api_key.as_deref()
    }

    /// The organisation it belongs to.
    pub fn tenant(&self) -> Option<&str> {
        self.account.as_ref()?.tenant.as_deref()
    }

    /// The plan it pays for.
    pub fn tier(&self) -> Option<&str> {
        self.account.as_ref()?.tier.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_with_nothing_in_it_is_none() {
        let plain = || Client::new("ann".to_owned(), None);
        assert_eq!(plain().with(Account::default()), plain());
        let pro = plain().with(Account { tier: Some("pro".to_owned()), ..Account::default() });
        assert_eq!((pro.tier(), pro.tenant(), pro.api_key()), (Some("pro"), None, None));
        assert_ne!(pro, plain());
    }
}
