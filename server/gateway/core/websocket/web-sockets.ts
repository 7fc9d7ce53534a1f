import { log } from '#server/platform/log.ts';
import type { Tunnel } from './tunnel.ts';

/** Open WebSockets of one workspace and space together (interface rule 12 §11). */
const MOST_OF_WORKSPACE = 100;
/** So that one whose key was revoked is closed within a second. */
const EVERY_MS = 500;

type Watched = {
  readonly tenantId: string;
  readonly requestId: string;
  readonly tunnel: Pick<Tunnel, 'end'>;
  /** Whether its call would be admitted now. A rejection says nothing. */
  stands(): boolean | Promise<boolean>;
};

/**
 * The open WebSockets of this gateway. What a call was admitted by is asked again while it is open, against the newest picture of its workspace: route,
 * environment, client, credential, addresses and policies. A database that is away closes none, until calls aren't served either.
 */
export class WebSockets {
  readonly #open = new Set<Watched>();
  readonly #ofWorkspace = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  get size(): number {
    return this.#open.size;
  }

  isFull(tenantId: string): boolean {
    return (this.#ofWorkspace.get(tenantId) ?? 0) >= MOST_OF_WORKSPACE;
  }

  /** Watches a tunnel until the returned function is called. */
  watch(watched: Watched): () => void {
    const { tenantId: id } = watched;
    this.#open.add(watched);
    this.#ofWorkspace.set(id, (this.#ofWorkspace.get(id) ?? 0) + 1);
    this.#timer ??= setInterval(() => this.check(), EVERY_MS).unref();
    return () => {
      if (!this.#open.delete(watched)) return;
      const left = (this.#ofWorkspace.get(id) ?? 1) - 1;
      if (left > 0) this.#ofWorkspace.set(id, left);
      else this.#ofWorkspace.delete(id);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Looks at every tunnel. */
  check(): void {
    for (const { requestId, tunnel, ...watched } of this.#open) {
      const stands = watched.stands();
      if (stands === false) tunnel.end('revoked');
      else if (stands instanceof Promise)
        stands.then(
          (still) => {
            if (!still) tunnel.end('revoked');
          },
          (error: unknown) => log.debug({ err: error, request_id: requestId }, 'a WebSocket could not be judged'),
        );
    }
  }

  /** The gateway goes away: both ends of all are told. */
  endAll(): void {
    for (const { tunnel } of this.#open) tunnel.end('shutdown');
  }
}
