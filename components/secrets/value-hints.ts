export type Hint = { tone: 'plain' | 'warn'; text: string };

type Shape = { is: RegExp; name: string; says?: string; of?: 'live' | 'test' };
/** What credentials of well-known providers begin with. The first that fits is told; a shape that is a mistake here says why. */
const SHAPES: readonly Shape[] = [
  { is: /^(?:sk|rk)_live_/, name: 'a Stripe key', of: 'live' },
  { is: /^(?:sk|rk)_test_/, name: 'a Stripe key', of: 'test' },
  {
    is: /^pk_(?:live|test)_/,
    name: 'a publishable Stripe key',
    says: 'It’s public. Use a secret key that starts with sk_ or rk_.',
  },
  { is: /^whsec_/, name: 'a webhook signing secret' },
  { is: /^sk-ant-/, name: 'an Anthropic key' },
  { is: /^sk-(?:proj-|svcacct-)?[\w-]{20,}$/, name: 'an OpenAI key' },
  { is: /^(?:gh[pousr]_|github_pat_)/, name: 'a GitHub token' },
  { is: /^glpat-/, name: 'a GitLab token' },
  { is: /^xox[abeoprs]-/, name: 'a Slack token' },
  { is: /^AIza[\w-]{30,}$/, name: 'a Google API key' },
  { is: /^SG\.[\w-]{16,}\./, name: 'a SendGrid key' },
  {
    is: /^(?:AKIA|ASIA)[0-9A-Z]{16}$/,
    name: 'an AWS access key ID',
    says: 'Use the 40-character secret access key instead.',
  },
  {
    is: /^(?:tk_(?:live|test)_|AKE[A-Z2-7]{16}:)/,
    name: 'a Sallyport key',
    says: 'Callers use it to call the gateway; upstreams don’t accept it.',
  },
  { is: /^-----BEGIN [A-Z ]*PRIVATE KEY-----/, name: 'a private key' },
  { is: /^-----BEGIN CERTIFICATE-----/, name: 'a certificate', says: 'It’s public. Store its private key instead.' },
];
/** Shorter values are not taken out of what is logged (interface rule 30 §7.4). */
const REDACTED_FROM = 6;

/** What a value looks like, and what is most likely wrong with it, told while it is typed; it never leaves the browser for this. Nothing hinders saving. */
export function valueHints(value: string, space: 'live' | 'test', now: number): Hint[] {
  const text = value.trim();
  if (text === '') return [];
  const hints: Hint[] = [];
  const warn = (text: string) => void hints.push({ tone: 'warn', text });
  const shape = SHAPES.find(({ is }) => is.test(text));
  if (shape?.says) warn(`This looks like ${shape.name}. ${shape.says}`);
  else if (shape?.of && shape.of !== space)
    warn(
      shape.of === 'live'
        ? `This looks like ${shape.name} for live data, but you’re in Test.`
        : `This looks like ${shape.name} for test data, but you’re in Live.`,
    );
  else if (shape) hints.push({ tone: 'plain', text: `Looks like ${shape.name}.` });
  const ends = jwtEnd(text);
  if (ends !== undefined)
    hints.push(
      ends <= now
        ? { tone: 'warn', text: `This JWT expired on ${day(ends)}.` }
        : { tone: 'plain', text: `This JWT expires on ${day(ends)}. Set the same expiry on the secret.` },
    );
  if (/^(?:bearer|basic|token)\s+\S/i.test(text)) warn('Remove the scheme (such as Bearer) and add it in the route instead.');
  if (/^(["'`]).*\1$/s.test(text)) warn('The quotation marks are stored as part of the value.');
  if (/^\{\{.*\}\}$/s.test(text) || /^(?:your|my|insert)[-_ ]|^(?:changeme|password|secret|xxx+|todo)$/i.test(text))
    warn('This looks like a placeholder.');
  if (new TextEncoder().encode(value).length < REDACTED_FROM) warn(`Values shorter than ${REDACTED_FROM} bytes aren’t redacted from logs.`);
  return hints;
}

/** When a JWT ends (RFC 7519 §4.1.4), in milliseconds; undefined for every other text and a token without an end. */
function jwtEnd(text: string): number | undefined {
  const body = /^eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]*$/.exec(text)?.[1];
  if (!body) return undefined;
  try {
    const { exp } = JSON.parse(atob(body.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown };
    return typeof exp === 'number' && Number.isFinite(exp) && Math.abs(exp) < 8e12 ? exp * 1000 : undefined;
  } catch {
    return undefined; // it only looks like one
  }
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);
