// What has the shape of personal data and is none: versions, numbers of sections, logins of machines, names of files. Each rule reads a few dozen characters
// around a match, which streams keep and hold back. A true value that is missed leaves the house, so a rule asks for a sign that prose doesn't have.

const BEFORE = 48;
const AFTER = 48;

/** Whether four numbers with dots are a version, or the number of a section or an object identifier, and no address. */
export function isVersionNumber(text: string, start: number, end: number): boolean {
  let before = text.slice(Math.max(0, start - BEFORE), start);
  if (SUFFIX.test(text.slice(end, end + AFTER)) || PACKAGE.test(before)) return true;
  const product = PRODUCT.exec(before)?.[1];
  if (product !== undefined) return !ADDRESS_NAME.test(product);
  // `versions 5.4.1.1, 5.4.1.2 and 5.4.1.3`
  for (let n = 0; n < 3; n++) before = before.replace(LISTED, '');
  return NUMBERED.test(before);
}

/** A file, or a release that isn't final: `-1.2.3.4.tar.gz`, `1.2.3.4-rc1`. */
const SUFFIX =
  /^(?:\.(?:tar|tgz|zip|jar|war|whl|deb|rpm|exe|msi|dmg|pkg|apk|nupkg|gem|dll|so|gz|xz|7z)(?!\w)|[-+](?:alpha|beta|rc|snapshot|release|preview|canary|dev|nightly|final|ga|sp|hotfix|build|py|el|linux|win|darwin|amd64|x86|arm64)(?![a-z]))/i;
/** Ranges of package managers, and packages with a path: `>=`, `^`, `@scope/pkg@`. A login has no path before its `@`. */
const PACKAGE = /(?:[<>~]=|[\^~]|\/[\w.-]{1,40}@)$/;
/** `Chrome/126.0.0.0`, `requests==2.31.0.4`: a name that isn't part of a path. */
const PRODUCT = /(?<![\w./+-])([A-Za-z][\w+-]{0,40})(?:\/|==)$/;
const ADDRESS_NAME =
  /(?:ips?|ipv4|addr|address|hosts?|lookup|whois|geo|dns|clients?|servers?|from|src|dst|source|destination|peers?|remote|gateway|nodes?)$/i;
const LISTED = /\d{1,5}(?:\.\d{1,5}){1,3}(?: ?[,;])? ?(?:and|or|to|und|bis|->|→|–|-)? ?$/;
const NUMBERED =
  /(?:(?:(?:version|release|build|revision|firmware|patch|section|chapter|clause|article|figure|table|paragraph)s?|(?<![a-z])(?:vers?|rev|rel|fw|sect?|appendix|annex|fig|para|steps?|oids?|object identifier)\.?)(?:[\s"'>:=(]{1,3}(?:is|was|number|no\.?)){0,2}[\s"'>:=(]{0,4}|§\s?|(?:^|\n)#{1,6} {1,2})$/i;

/** Whether an address with an `@` is the login of a machine, such as the remote of a repository, or the name of a file or unit. */
export function isMachineLogin(text: string, start: number, at: number, end: number): boolean {
  return (
    MACHINES.has(text.slice(start, at).toLowerCase()) ||
    REMOTE_PATH.test(text.slice(end, end + AFTER)) ||
    REMOTE_SCHEME.test(text.slice(Math.max(0, start - 8), start)) ||
    NO_DOMAIN.test(text.slice(at + 1, end))
  );
}

const MACHINES: ReadonlySet<string> = new Set(['git', 'hg', 'svn']);
/** Of scp and rsync: an absolute path, one in the home folder, or a repository. */
const REMOTE_PATH = /^:(?:[/~]|[\w./~-]{1,40}\.git(?!\w))/;
const REMOTE_SCHEME = /(?:ssh|sftp|rsync|scp|git):\/\/$/i;
/** A version, or a last label that is no domain but the end of a file, or of a unit of systemd. */
const NO_DOMAIN =
  /^v?\d+\.\d+[.-]|\.(?:service|socket|timer|mount|slice|device|png|jpe?g|gif|webp|svg|json|ya?ml|toml|xml|html?|txt|log|lock|tsx?|jsx|css|scss|exe|dll|jar|tgz|gz)$/i;

/** Whether a number near a word such as call is a date, or a time in seconds or milliseconds since 1970. */
export const isTimeStamp = (match: string): boolean => DATE.test(match) || EPOCH.test(match);

const DATE =
  /^\(?(?:(?:19|20)\d\d([-./])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])([-./])(?:0[1-9]|1[0-2])\2(?:19|20)\d\d)(?!\d)/;
/** From 2020 to 2033. */
const EPOCH = /^1[67]\d{8}(?:\d{3})?$/;
