import type { Trouble, Web } from '../core/health.ts';
import type { WebForward } from './web-forward.ts';

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
  let since: Date | null = null;
  const ask = async (): Promise<Web> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'unavailable'>((resolve) => {
      timer = setTimeout(() => resolve('unavailable'), PATIENCE_MS);
    });
    const answer = await Promise.race([web.ask({ method: 'GET', target: '/__ready', headers: [], source: 'readyz' }), late]);
    clearTimeout(timer);
    const there = typeof answer === 'object';
    if (there && answer.status === 200) since = null;
    else since ??= new Date();
    const trouble = (part: 'web' | 'dashboard', effect: string): Trouble => ({ part, since, effect });
    if (!there) return { api: trouble('web', WEB_AWAY), pages: null };
    return { api: null, pages: answer.status === 200 ? null : trouble('dashboard', 'The dashboard is being built or loaded.') };
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

const WEB_AWAY = "The web process doesn't answer: the dashboard, the API, OAuth and SCIM are unavailable.";
