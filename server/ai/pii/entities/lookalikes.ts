// What has the shape of personal data and is none: versions, numbers of sections, logins of machines, names of files. Each rule reads a few dozen characters
// around a match, which streams keep and hold back. A true value that is missed leaves the house, so a rule asks for a sign that prose doesn't have.

const BEFORE = 48;
const AFTER = 48;

/**
 * Whether the value of a secret is an expression of source code: `this.tokens[0]`, `pki.keyFromPem(pem)`, `process.env.TOKEN`, `awsSessionToken`. It has
 * words of a name, stands without quotes, and isn't the value of an environment file.
 */
export function isExpression(text: string, start: number, end: number): boolean {
  const value = text.slice(start, end);
  if (!NAME.test(value) || QUOTE.test(text.charAt(start - 1)) || SETTING.test(text.slice(Math.max(0, start - BEFORE), start))) return false;
  const pieces = value.match(PIECES) ?? [];
  const words = pieces.filter((piece) => /\D/.test(piece));
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  if (words.length < 2 || letters < 3 * words.length || pieces.length - words.length > 2) return false;
  // `correct.horse.battery` may be a password.
  return !/^[a-z.]+$/.test(value) || /[([;]/.test(text.charAt(end)) || ROOT.test(value);
}

const NAME = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*[!?]?$/;
const QUOTE = /["'`]/;
const SETTING = /(?:^|\n|export )[A-Z][A-Z0-9_]*=$/;
/** `APIKey2` has API, Key and 2. */
const PIECES = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
/** What code reads values from. */
const ROOT =
  /^(?:this|self|process|env|os|req|request|res|response|ctx|context|config|conf|settings|options|opts|params|args|props|state|data|session|auth|keys|credentials|event|headers|body|app|client|window|document|module|exports|var|local|secrets|vault|inputs|github|user)\./;

/** Whether the value of a secret says only that one belongs here: `your-password`, `HEADER.PAYLOAD.SIGNATURE`, `$DB_PASSWORD`. */
export const isPlaceholder = (value: string): boolean => REFERENCE.test(value) || (WORDS.test(value) && STANDS_FOR.test(value));

const REFERENCE = /^(?:\$[A-Za-z_]\w*|%[A-Z_]{3,}%)$/;
const WORDS = /^[A-Za-z]{1,24}(?:[-_. ]{1,2}[A-Za-z]{1,24})+\d?$/;
const STANDS_FOR =
  /(?:^|[-_. ])(?:your|example|sample|placeholder|change|replace|insert|dummy|fake|todo|redacted|password|passwd|secret|token|key|credentials?|header|payload|signature)(?:$|[-_. ])/i;

/** Whether four numbers with dots are a version, or the number of a section or an object identifier, and no address. */
export function isVersionNumber(text: string, start: number, end: number): boolean {
  let before = text.slice(Math.max(0, start - BEFORE), start);
  if (SUFFIX.test(text.slice(end, end + AFTER)) || PACKAGE.test(before)) return true;
  // `proxy/8.8.4.4:8080` has a port, which no version has.
  if (PORT.test(text.slice(end, end + AFTER))) return false;
  if (ANCHOR.test(before) || RUNTIME.test(before) || OBJECT_IDENTIFIER.test(text.slice(start, end))) return true;
  const product = PRODUCT.exec(before)?.[1];
  if (product !== undefined) return !ADDRESS_NAME.test(product);
  // `versions 5.4.1.1, 5.4.1.2 and 5.4.1.3`
  for (let n = 0; n < 3; n++) before = before.replace(LISTED, '');
  return NUMBERED.test(before);
}

const PORT = /^:\d{2,5}(?!\d)/;
/** A link to a section: `#section-3.4.2.2`. */
const ANCHOR = /#[A-Za-z][\w-]{0,30}[-.]$/;
/** Of X.500, which certificates are full of. */
const OBJECT_IDENTIFIER = /^2\.5\.(?:4|29)\./;
/** Runtimes that are told by four numbers: `java 11.0.20.1`, `jdk-17.0.9.1`. */
const RUNTIME =
  /(?<![\w.])(?:open)?(?:jdk|java|jre|chrome|chromium|edge|firefox|safari|opera|electron|android|kernel|linux|windows|macos|ios|postgres(?:ql)?|mysql|mariadb|oracle|nginx|node|python|ruby|php|dotnet|gcc|cuda)[ -]v?$/i;
/** A file, or a release that isn't final: `-1.2.3.4.tar.gz`, `1.2.3.4-rc1`. */
const SUFFIX =
  /^(?:\.(?:tar|tgz|zip|jar|war|whl|deb|rpm|exe|msi|dmg|pkg|apk|nupkg|gem|dll|so|gz|xz|7z)(?!\w)|[-+](?:alpha|beta|rc|snapshot|release|preview|canary|dev|nightly|final|ga|sp|hotfix|build|py|el|linux|win|darwin|amd64|x86|arm64)(?![a-z]))/i;
/** Ranges of package managers, and packages with a path: `>=`, `^`, `@scope/pkg@`. A login has no path before its `@`. */
const PACKAGE = /(?:[<>~]=|[\^~]|\/[\w.-]{1,40}@)$/;
/** `Chrome/126.0.0.0`, `requests==2.31.0.4`: a name that isn't part of a path. */
const PRODUCT = /(?<![\w./+-])([A-Za-z][\w+-]{0,40})(?:\/|==)$/;
const ADDRESS_NAME =
  /(?:ips?|ipv4|addr|address|hosts?|prox(?:y|ies)|upstreams?|backends?|workers?\d*|routers?\d*|vpn|lookup|whois|geo|dns|clients?|servers?|from|src|dst|source|destination|peers?|remote|gateway|nodes?)$/i;
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
  /^v?\d+\.\d+[.-]|^(?:v\d+|\d{1,2}x)\.|\.(?:service|socket|timer|mount|slice|device|png|jpe?g|gif|webp|svg|json|ya?ml|toml|xml|html?|txt|log|lock|tsx?|jsx|css|scss|exe|dll|jar|tgz|gz)$/i;

/** Whether a number near a word such as call is a date, or a time in seconds or milliseconds since 1970. */
export const isTimeStamp = (match: string): boolean => DATE.test(match) || EPOCH.test(match);

/** Whether numbers with dots are the beginning of an address or a netmask. */
export const isPartOfAddress = (match: string, text: string, end: number): boolean =>
  TRIPLE.test(match) && /^\.\d/.test(text.slice(end, end + 2));

const DATE =
  /^\(?(?:(?:19|20)\d\d([-./])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])([-./])(?:0[1-9]|1[0-2])\2(?:19|20)\d\d)(?!\d)/;
const TRIPLE = /^\d{1,3}(?:\.\d{1,3}){2}$/;
/** From 2020 to 2033. */
const EPOCH = /^1[67]\d{8}(?:\d{3})?$/;
