//! What a call takes on the wire, in the protocol of Redis (RESP): the commands below and their replies, each once
//! for every key, or a script once for all of them. Lengths of names and states are those of the run; other
//! arguments are taken to have as many digits as those of an everyday limit have ([`TIME`] and the rest).

/// What is sent, by the commands of Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// A script by its digest, which reads, decides and writes: `EVALSHA digest n key… now slack mode`, then `limit
    /// per burst cost` for each key; the reply is that to what passes, a list of two integers.
    Script,
    /// States are read: `GET key`; the reply is the state, or nothing where it has no bytes.
    Read,
    /// Charges are added: `INCRBY key cost` and `PEXPIRE key ms`; the replies are two integers.
    Increment,
    /// States are written: `SET key state PX ms`; the reply is `OK`.
    Write,
}

/// Digits of the microseconds since 1970, until the year 2286.
const TIME: u64 = 16;
/// Digits of a limit, a burst or a count in the hundreds.
const COUNT: u64 = 3;
/// Digits of a minute in microseconds.
const MICROSECONDS: u64 = 8;
/// Digits of a minute in milliseconds.
const MILLISECONDS: u64 = 5;
/// Digits of a cost, a decision, or a number that is 0 or 1.
const SMALL: u64 = 1;
/// Letters of a mode: `all-or-nothing`.
const MODE: u64 = 14;
/// Digits of a script's SHA-1.
const DIGEST: u64 = 40;

/// Bytes of a call and its answer, for keys with names of these lengths and states of so many bytes.
pub fn bytes(exchange: Exchange, keys: impl Iterator<Item = (usize, u64)>) -> u64 {
    let keys = keys.map(|(name, state)| (name as u64, state));
    match exchange {
        Exchange::Script => {
            let (count, names) =
                keys.fold((0, 0), |(count, names), (name, _)| (count + 1, names + bulk(name)));
            let limit = bulk(COUNT) + bulk(MICROSECONDS) + bulk(COUNT) + bulk(SMALL);
            let call = command("EVALSHA", 5 + 5 * count)
                + bulk(DIGEST)
                + bulk(digits(count))
                + names
                + bulk(TIME)
                + bulk(SMALL)
                + bulk(MODE)
                + count * limit;
            call + array(2) + 2 * integer(SMALL)
        }
        Exchange::Read => {
            let state = |bytes| if bytes == 0 { NOTHING } else { bulk(bytes) };
            keys.map(|(name, bytes)| command("GET", 1) + bulk(name) + state(bytes)).sum()
        }
        Exchange::Increment => keys
            .map(|(name, _)| {
                let add = command("INCRBY", 2) + bulk(name) + bulk(SMALL) + integer(COUNT);
                let expire =
                    command("PEXPIRE", 2) + bulk(name) + bulk(MILLISECONDS) + integer(SMALL);
                add + expire
            })
            .sum(),
        Exchange::Write => keys
            .map(|(name, state)| {
                let option = bulk(2) + bulk(MILLISECONDS);
                command("SET", 4) + bulk(name) + bulk(state) + option + DONE
            })
            .sum(),
    }
}

/// `$-1`
const NOTHING: u64 = 5;
/// `+OK`
const DONE: u64 = 5;

/// The list and the name of a command with so many arguments.
fn command(name: &str, arguments: u64) -> u64 {
    array(1 + arguments) + bulk(name.len() as u64)
}

/// The head of a list: `*2`.
fn array(length: u64) -> u64 {
    1 + digits(length) + 2
}

/// A text of so many bytes: `$3`, then `abc`.
fn bulk(length: u64) -> u64 {
    1 + digits(length) + 2 + length + 2
}

/// A number of so many digits: `:100`.
fn integer(digits: u64) -> u64 {
    1 + digits + 2
}

fn digits(number: u64) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0)) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command as a client sends it.
    fn sent(words: &[&str]) -> String {
        let words: Vec<String> =
            words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
        format!("*{}\r\n{}", words.len(), words.concat())
    }

    fn counted(exchange: Exchange, keys: &[(&str, u64)]) -> u64 {
        bytes(exchange, keys.iter().map(|(name, state)| (name.len(), *state)))
    }

    const NOW: &str = "1767225600000000";
    const DIGEST: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_script_is_called_once_for_all_keys() {
        let reply = "*2\r\n:1\r\n:0\r\n";
        let limit = ["100", "60000000", "150", "1"];
        let mode = "all-or-nothing";
        let one =
            sent(&[&["EVALSHA", DIGEST, "1", "rl:{ann}", NOW, "0", mode][..], &limit].concat());
        assert_eq!(counted(Exchange::Script, &[("rl:{ann}", 99)]), (one + reply).len() as u64);
        let names: Vec<String> = (10..22).map(|n| format!("key {n}")).collect();
        let keys: Vec<&str> = names.iter().map(String::as_str).collect();
        let limits = limit.repeat(12);
        let twelve =
            sent(&[&["EVALSHA", DIGEST, "12"][..], &keys, &[NOW, "0", mode], &limits].concat());
        let keys: Vec<_> = keys.into_iter().map(|key| (key, 0)).collect();
        assert_eq!(counted(Exchange::Script, &keys), (twelve + reply).len() as u64);
    }

    #[test]
    fn a_key_is_read_and_written_as_it_is() {
        let state = "0123456789";
        let read = sent(&["GET", "a"]) + "$10\r\n0123456789\r\n";
        assert_eq!(counted(Exchange::Read, &[("a", 10)]), read.len() as u64);
        let missing = sent(&["GET", "bc"]) + "$-1\r\n";
        let both = counted(Exchange::Read, &[("a", 10), ("bc", 0)]);
        assert_eq!(both, (read + &missing).len() as u64);
        let write = sent(&["SET", "a", state, "PX", "60000"]) + "+OK\r\n";
        assert_eq!(counted(Exchange::Write, &[("a", 10)]), write.len() as u64);
    }

    #[test]
    fn a_charge_is_two_commands() {
        let add = sent(&["INCRBY", "rl:{ann}", "1"]) + ":100\r\n";
        let expire = sent(&["PEXPIRE", "rl:{ann}", "60000"]) + ":1\r\n";
        let expected = (add + &expire).len() as u64;
        assert_eq!(counted(Exchange::Increment, &[("rl:{ann}", 8)]), expected);
        assert_eq!(counted(Exchange::Increment, &[("rl:{ann}", 8); 3]), 3 * expected);
    }

    #[test]
    fn a_length_has_as_many_digits_as_it_needs() {
        assert_eq!([0, 9, 10, 99, 100, u64::MAX].map(digits), [1, 1, 2, 2, 3, 20]);
    }
}
