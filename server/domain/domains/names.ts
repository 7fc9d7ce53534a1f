import { parse } from 'tldts';
import { invalid } from '#server/kernel/errors.ts';

/** Providers of mailboxes for everybody: nobody's workspace owns them, whatever their DNS says. */
const FREE_MAIL: ReadonlySet<string> = new Set(
  (
    '126.com 139.com 163.com 189.cn aim.com aliyun.com aol.com arcor.de att.net bellsouth.net bigpond.com bluewin.ch bol.com.br btinternet.com charter.net comcast.net cox.net ' +
    'daum.net duck.com earthlink.net email.com fastmail.com fastmail.fm foxmail.com free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com ' +
    'hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.es hotmail.fr hotmail.it hushmail.com icloud.com inbox.lv inbox.ru interia.pl juno.com laposte.net libero.it ' +
    'live.co.uk live.com live.de live.fr live.nl mac.com mail.com mail.ru mailbox.org me.com msn.com naver.com o2.pl orange.fr outlook.com outlook.de outlook.es outlook.fr ' +
    'pm.me posteo.de posteo.net proton.me protonmail.ch protonmail.com qq.com rambler.ru rediffmail.com rocketmail.com runbox.com sbcglobal.net seznam.cz sfr.fr shaw.ca ' +
    'sina.com sky.com sohu.com startmail.com t-online.de talktalk.co.uk tuta.com tuta.io tutamail.com tutanota.com tutanota.de uol.com.br verizon.net virgilio.it virginmedia.com ' +
    'wanadoo.fr web.de wp.pl xtra.co.nz yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru ' +
    'yeah.net ymail.com zoho.com'
  ).split(' '),
);

/** The one spelling of a domain: lower-case ASCII without a final dot. @throws Refusal validation_error when no workspace could own it */
export function ownableDomain(text: string): string {
  const given = text.trim().replace(/\.$/, '');
  if (/[\s/:@?#%[\]\\]/.test(given)) throw invalid('domain', 'must be a domain name such as example.com, without scheme, path or address');
  // The URL standard maps to lower case and to punycode, and refuses what no domain may hold.
  const domain = URL.parse(`http://${given}/`)?.hostname ?? '';
  const { isIp, publicSuffix } = parse(domain, { allowPrivateDomains: true });
  const labels = domain.split('.');
  if (domain === '' || isIp || domain.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label)))
    throw invalid('domain', 'must be a domain name such as example.com');
  if (publicSuffix === domain)
    throw invalid('domain', 'is a public suffix, under which anyone can register names. Add the domain of your organization');
  if (FREE_MAIL.has(domain))
    throw invalid('domain', 'belongs to a provider of mailboxes for everybody. Add the domain of your organization');
  return domain;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The part of an address after the @, as domains are stored; undefined when it has none. */
export function domainOf(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  // What a URL reads as the end of its host is no end of an address.
  return at < 1 || /[\s/:?#%[\]\\]/.test(email.slice(at + 1))
    ? undefined
    : (URL.parse(`http://${email.slice(at + 1)}/`)?.hostname.replace(/\.$/, '') ?? undefined);
}
