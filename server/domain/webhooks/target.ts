import { egress } from '#server/platform/egress.ts';
import { isOpenPort } from '#server/platform/http-out/open-port.ts';
import { checkTargetUrl } from '#server/platform/http-out/target-url.ts';
import { scrub } from '#server/platform/log.ts';

/**
 * Judges where a webhook may send to, when it is saved; addresses are judged again at every attempt. @returns what is wrong, to follow a field name, or
 * null with what to warn of
 */
export async function checkUrl(url: string, { sandbox }: { sandbox: boolean }): Promise<{ problem: string | null; warnings: string[] }> {
  if (url.includes('#')) return refused('must not have a fragment');
  const mark = url.indexOf('?');
  if (mark !== -1 && /[^\x21-\x7e]|["<>\\^`{|}]/.test(url.slice(mark)))
    return refused('must be ASCII without spaces; percent-encode its query');
  const resolver = egress();
  // Receivers on a developer's machine are spoken to by http from Test; which addresses are allowed is another question.
  const settings = sandbox ? { ...resolver.settings, allowHttp: true } : resolver.settings;
  const lookup = (host: string, port: number) => resolver.lookup(host, port);
  const verdict = await checkTargetUrl(mark === -1 ? url : url.slice(0, mark), { settings, lookup });
  if (!verdict.ok) return refused(verdict.message);
  if (verdict.hasVariables) return refused('must not contain placeholders');
  const { scheme, host, port } = verdict.target;
  if (!isOpenPort(scheme, port) && !settings.testHosts.has(`${host}:${port}`)) return refused(`must not use port ${port}`);
  return { problem: null, warnings: verdict.warnings };
}

const refused = (problem: string) => ({ problem, warnings: [] });

/** The URL as the delivery log shows it to everybody: without what may be a credential in its path or query. */
export function maskedUrl(url: string): string {
  const mark = url.indexOf('?');
  const plain = mark === -1 ? url : url.slice(0, mark);
  const slash = plain.indexOf('/', plain.indexOf('://') + 3);
  const [origin, path] = slash === -1 ? [plain, ''] : [plain.slice(0, slash), plain.slice(slash)];
  const masked = path.split('/').map((part) => (LIKE_A_CREDENTIAL.test(part) ? MASK : part));
  const query =
    mark === -1
      ? ''
      : `?${url
          .slice(mark + 1)
          .split('&')
          .map(maskedPair)
          .join('&')}`;
  return scrub(`${origin}${masked.join('/')}${query}`);
}

const maskedPair = (pair: string): string => {
  const is = pair.indexOf('=');
  return is === -1 ? (LIKE_A_CREDENTIAL.test(pair) ? MASK : pair) : `${pair.slice(0, is + 1)}${MASK}`;
};

const MASK = '[redacted]';
/** Long and with digits among its letters: services put tokens into paths (`/services/T0/B0/x7Fa…`). An ID is masked along. */
const LIKE_A_CREDENTIAL = /^(?=[^/]{0,256}[0-9])(?=[^/]{0,256}[A-Za-z])[A-Za-z0-9_.~%-]{16,2048}$/;
