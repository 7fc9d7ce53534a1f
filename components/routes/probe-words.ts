import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type Probed = inferRouterOutputs<AppRouter>['routes']['probe'];
export type Tone = 'good' | 'bad' | 'plain';

/** One sentence, with what to do where there is something to do. */
export function probeInWords(probed: Probed, host: string): { tone: Tone; text: string } {
  const { outcome, problem, certificate, status, latency_ms } = probed;
  switch (outcome) {
    case 'refused':
      return { tone: 'bad', text: problem ? `The URL ${problem}.` : `${host} may not be called from here.` };
    case 'unknown':
      return { tone: 'plain', text: 'The host has variables in it, so it is looked at when the route is called.' };
    case 'unresolved':
      return { tone: 'bad', text: `${host} has no address at the moment. You can save it; calls fail until it has one.` };
    case 'unreachable':
      return { tone: 'bad', text: `${host} has an address, and nothing there takes connections.` };
    case 'untrusted':
      return {
        tone: 'bad',
        text: `The certificate of ${host} does not hold: calls are refused until it does. Look at its name, its end and who signed it.`,
      };
    case 'silent':
      return { tone: 'bad', text: `${host} takes connections and does not answer in time.` };
    case 'answered': {
      const secured = certificate
        ? `, with a certificate${certificate.issuer ? ` of ${certificate.issuer}` : ''} until ${certificate.valid_until.slice(0, 10)}`
        : '';
      return { tone: 'good', text: `${host} answers: ${status ?? ''} in ${latency_ms ?? 0} ms${secured}.` };
    }
  }
}
