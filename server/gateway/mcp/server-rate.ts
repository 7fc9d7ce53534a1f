import { log } from '#server/platform/log.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';

const WINDOW_SEC = 60;

/** Counts one call of a server, over all tokens; whole seconds to wait when there were too many. A counter store that is away limits nothing. */
export async function serverWait({ id, rpm }: McpServer, now: number): Promise<number> {
  const window = Math.floor(now / 1000 / WINDOW_SEC);
  try {
    const calls = await windowCounter()(`mcp:s:${id}`, window, WINDOW_SEC, rpm + 1);
    return calls <= rpm ? 0 : Math.max(1, Math.ceil((window + 1) * WINDOW_SEC - now / 1000));
  } catch (error) {
    log.warn({ err: error }, 'the counter store is unavailable; the rate of MCP calls is not limited');
    return 0;
  }
}
