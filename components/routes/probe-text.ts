import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type Probed = inferRouterOutputs<AppRouter>['routes']['probe'];
export type Tone = 'good' | 'bad' | 'plain';

/** One sentence, with what to do where there is something to do. */
export function describeProbe(probed: Probed, host: string): { tone: Tone; text: string } {
  const { outcome, problem, certificate, status, latency_ms } = probed;
  switch (outcome) {
    case 'refused':
      return { tone: 'bad', text: problem ? `The URL ${problem}.` : `${host} isn’t an allowed upstream.` };
    case 'unknown':
      return { tone: 'plain', text: 'The host contains variables, so it’s resolved when the route is called.' };
    case 'unresolved':
      return { tone: 'bad', text: `${host} doesn’t resolve. You can save it, but calls fail until it does.` };
    case 'unreachable':
      return { tone: 'bad', text: `${host} refuses connections. Check the host and port.` };
    case 'untrusted':
      return {
        tone: 'bad',
        text: `The certificate of ${host} is invalid, so calls fail. Check its name, expiry and issuer.`,
      };
    case 'silent':
      return { tone: 'bad', text: `${host} timed out.` };
    case 'answered': {
      const secured = certificate
        ? `. Certificate${certificate.issuer ? ` from ${certificate.issuer}` : ''} valid until ${certificate.valid_until.slice(0, 10)}`
        : '';
      return { tone: 'good', text: `${host} responded with ${status ?? ''} in ${latency_ms ?? 0} ms${secured}.` };
    }
  }
}
