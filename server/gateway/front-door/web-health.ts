import type { Web } from '../core/health.ts';
import type { WebAnswer } from '../core/web-call.ts';
import type { WebFailure, WebForward } from './web-forward.ts';

/** Between two questions to web: whoever asks /readyz in between is told the same. */
const KEPT_MS = 1_000;
/** A web process that doesn't answer by then is away. */
const PATIENCE_MS = 2_000;

export type WebHealth = {
  /** What web said last, for answers that don't depend on it: at once, while web is asked for the next time. Nothing is wrong before it was ever asked. */
  known(): Web;
  /** What web says now, or that it didn't in time. Never rejects. */
  asked(): Promise<Web>;
};

/** Whether web answers, and whether it has its pages: asked at most once a second, however often it is asked. */
export function webHealth(web: Pick<WebForward, 'ask'>): WebHealth {
  let known: Web = { api: null, pages: null };
  let [askedAt, held] = [Number.NEGATIVE_INFINITY, Promise.resolve(known)];
  /** What is wrong, and since when it was that. */
  let [state, since]: [State, Date] = ['well', new Date()];
  const ask = async (): Promise<Web> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'unavailable'>((resolve) => {
      timer = setTimeout(() => resolve('unavailable'), PATIENCE_MS);
    });
    const answer = await Promise.race([web.ask({ method: 'GET', target: '/__ready', headers: [], source: 'readyz', alone: true }), late]);
    clearTimeout(timer);
    const now = stateOf(answer);
    if (now !== state) [state, since] = [now, new Date()];
    return {
      api: state === 'away' ? { part: 'web', since, effect: WEB_AWAY } : null,
      pages: state === 'without_pages' ? { part: 'dashboard', since, effect: 'The dashboard is being built or loaded.' } : null,
    };
  };
  const asked = () => {
    const now = performance.now();
    if (now - askedAt < KEPT_MS) return held;
    askedAt = now;
    held = ask().then((said) => {
      known = said;
      return said;
    });
    return held;
  };
  return {
    known() {
      void asked();
      return known;
    },
    asked,
  };
}

type State = 'well' | 'without_pages' | 'away';

/** Only the two answers that web gives say something: any other one isn't web's own. */
function stateOf(answer: WebAnswer | WebFailure): State {
  if (typeof answer !== 'object') return 'away';
  if (answer.status === 200) return 'well';
  return answer.status === 503 ? 'without_pages' : 'away';
}

const WEB_AWAY = "The web process doesn't answer: the dashboard, the API, OAuth and SCIM are unavailable.";
