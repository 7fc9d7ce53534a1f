import { judgeCommonName } from '#server/domain/pki/names.shared.ts';
import { verdictOn } from './name-verdict.ts';
import { namesIn, type Role, type Root } from './pki-labels.ts';

const UNITS = { minute: 60, hour: 3_600, day: 86_400 } as const;

/** What is typed into the form for a new certificate. */
export type Wanted = { common_name: string; san_dns: string; san_ip: string; ttl: string; ttl_unit: keyof typeof UNITS };

const secondsOf = ({ ttl, ttl_unit }: Wanted): number | undefined => (ttl.trim() === '' ? undefined : Number(ttl) * UNITS[ttl_unit]);

/** The body of the call that the form stands for. */
export function wantedInput(wanted: Wanted) {
  const [san_dns, san_ip] = [namesIn(wanted.san_dns), namesIn(wanted.san_ip)];
  const ttl_seconds = secondsOf(wanted);
  const common_name = wanted.common_name.trim();
  return {
    subject: common_name === '' ? {} : { common_name },
    ...(san_dns.length > 0 ? { san_dns } : {}),
    ...(san_ip.length > 0 ? { san_ip } : {}),
    ...(ttl_seconds === undefined || Number.isNaN(ttl_seconds) ? {} : { ttl_seconds }),
  };
}

export type Problems = Partial<Record<'common_name' | 'san_dns' | 'san_ip' | 'ttl' | 'first', string>>;

/** What the role would refuse, by the rules that the server judges by, before a verification is spent on it. `first` is why the form can't be sent. */
export function problemsOf(wanted: Wanted, role: Role): Problems {
  const common_name = wanted.common_name.trim();
  const refused = (name: string, why: string) => `${name.slice(0, 80)}: ${why.replace('Not allowed: ', '')}`;
  const problems: Problems = {};
  if (common_name !== '' && !judgeCommonName(role, common_name).allowed)
    problems.common_name = refused(common_name, verdictOn({ ...role, allow_ip_sans: false }, common_name).text);
  for (const [field, text] of [
    ['san_dns', wanted.san_dns],
    ['san_ip', wanted.san_ip],
  ] as const)
    for (const name of namesIn(text)) {
      const verdict = verdictOn(role, name);
      const isAddress = verdict.text.endsWith('IP address') || verdict.text.endsWith('IP addresses');
      if (field === 'san_ip' && !isAddress) problems[field] ??= `${name.slice(0, 80)} isn’t an IP address`;
      else if (field === 'san_dns' && isAddress) problems[field] ??= `${name} is an IP address`;
      else if (!verdict.ok) problems[field] ??= refused(name, verdict.text);
    }
  const seconds = secondsOf(wanted);
  if (seconds !== undefined && !(Number.isInteger(seconds) && seconds >= 60))
    problems.ttl = 'Must be a whole number, and at least a minute';
  const empty = common_name === '' && namesIn(wanted.san_dns).length === 0 && namesIn(wanted.san_ip).length === 0;
  const first = Object.values(problems)[0] ?? (empty ? 'Enter a name or an IP address first' : undefined);
  return first === undefined ? problems : { ...problems, first };
}

const MOST_IN_TEST = 30 * UNITS.day;

type Lifetime = { wanted: Wanted; role: Role; intermediate: Root['intermediate']; test: boolean; now?: number };

/** When the certificate would end, and what cut it short if anything does (interface rule 43 §4.2). Undefined without an intermediate. */
export function effectiveEnd({
  wanted,
  role,
  intermediate,
  test,
  now = Date.now(),
}: Lifetime): { at: Date; why: string | undefined } | undefined {
  if (!intermediate) return undefined;
  const asked = secondsOf(wanted);
  const usual = asked === undefined || !(asked >= 60) ? role.default_ttl_seconds : asked;
  const left = Math.floor((Date.parse(intermediate.not_after) - now) / 1_000);
  const bounds: [number, string | undefined][] = [
    [usual, undefined],
    [role.max_ttl_seconds, 'the role allows no more'],
    ...(test ? ([[MOST_IN_TEST, 'certificates of Test last at most 30 days']] as [number, string][]) : []),
    [left, 'its intermediate ends then'],
  ];
  const [seconds, why] = bounds.reduce((least, one) => (one[0] < least[0] ? one : least));
  return { at: new Date(now + Math.max(0, seconds) * 1_000), why };
}
