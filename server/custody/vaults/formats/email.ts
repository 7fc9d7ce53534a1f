import { randomBase32 } from '#server/crypto/random.ts';
import { type Format, FormatMismatch } from './format.ts';

/** Email addresses. Tokens keep the domain, in lower case; the name is 80 random bits. */
export const email: Format = {
  normalise(value) {
    if (value.length > 254) throw new FormatMismatch('must have at most 254 characters');
    const [name = '', domain = '', ...more] = value.split('@');
    if (more.length > 0 || !isName(name) || !isDomain(domain)) throw new FormatMismatch('must be an email address: a name, @ and a domain');
    return `${name}@${domain.toLowerCase()}`;
  },
  asSent: true,
  token: (address) => `${randomBase32(16, 'lower')}${address.slice(address.indexOf('@'))}`,
  masked: (address) => `${address.slice(0, 1)}***${address.slice(address.indexOf('@'))}`,
};

/** An unquoted name (RFC 5322 §3.2.3), or one of another script (RFC 6531). */
const isName = (name: string) => /^[^\s\u0000-\u0020"(),:;<>@[\\\]\u007f]{1,64}$/.test(name) && !/^\.|\.\.|\.$/.test(name);
/** A domain of any script is kept as it was given. */
const isDomain = (domain: string) => /^[^\s\u0000-\u002c/:-@[-`{-\u007f]{1,253}$/.test(domain) && !/^[.-]|\.\.|[.-]$/.test(domain);
