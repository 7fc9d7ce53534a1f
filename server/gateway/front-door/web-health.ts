import type { Trouble, Web } from '../core/health.ts';
import type { WebForward } from './web-forward.ts';

/** Between two questions to web: whoever asks /readyz in between is told the same. */
const KEPT_MS = 1_000;
/** A web process that doesn't answer by then is away. */
const PATIENCE_MS = 2_000;

/** Whether web answers, and whether it has its pages: asked at most once a second, however often it is asked. Never rejects. */
export function webHealth(web: Pick<WebForward, 'ask'>): () => Promise<Web> {
  let [askedAt, held]: [number, Promise<Web>] = [Number.NEGATIVE_INFINITY, Promise.resolve({ api: null, pages: null })];
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
  return () => {
    const now = performance.now();
    if (now - askedAt < KEPT_MS) return held;
    askedAt = now;
    held = ask();
    return held;
  };
}

const WEB_AWAY = "The web process doesn't answer: the dashboard, the API, OAuth and SCIM are unavailable.";
