/** Providers of throw-away mailboxes that anybody can read: no account is made for them (interface rule 20 §7.1). Subdomains count. */
const DISPOSABLE: ReadonlySet<string> = new Set(
  (
    '0-mail.com 10minutemail.com 10minutemail.net 1secmail.com 1secmail.net 1secmail.org 20minutemail.com 33mail.com anonbox.net burnermail.io byom.de ' +
    'cock.li correotemporal.org crazymailing.com deadaddress.com discard.email discardmail.com dispostable.com dropmail.me emailfake.com emailondeck.com ' +
    'emailtemporanea.net fakeinbox.com fakemail.net fakemailgenerator.com getairmail.com getnada.com guerrillamail.biz guerrillamail.com guerrillamail.de ' +
    'guerrillamail.info guerrillamail.net guerrillamail.org grr.la harakirimail.com inboxbear.com inboxkitten.com jetable.org mail-temp.com mail-temporaire.fr ' +
    'mail.tm mailcatch.com maildrop.cc mailexpire.com mailforspam.com mailinator.com mailinator.net mailinator2.com mailnesia.com mailnull.com mailpoof.com ' +
    'mailsac.com mintemail.com minuteinbox.com moakt.com mohmal.com mytemp.email mytrashmail.com nada.email nowmymail.com owlymail.com pokemail.net ' +
    'sharklasers.com spam4.me spamgourmet.com spambox.us tempail.com temp-mail.io temp-mail.org tempinbox.com tempmail.dev tempmail.net tempmailo.com tempr.email ' +
    'throwawaymail.com tmail.ws tmailor.com tmpmail.org trash-mail.com trashmail.com trashmail.de trashmail.io trashmail.net trashmail.ws wegwerfmail.de ' +
    'wegwerfmail.net wegwerfmail.org yopmail.com yopmail.fr yopmail.net zeroe.ml'
  ).split(' '),
);

const MOST_LABELS = Math.max(...[...DISPOSABLE].map((domain) => domain.split('.').length));

/** Whether the address (canonical) is one of a throw-away provider. Only its last labels are joined: anybody may send a megabyte of dots. */
export function isDisposable(email: string): boolean {
  const labels = email
    .slice(email.lastIndexOf('@') + 1)
    .split('.')
    .slice(-MOST_LABELS);
  return labels.some((_, i) => DISPOSABLE.has(labels.slice(i).join('.')));
}
