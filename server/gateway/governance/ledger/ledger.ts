import { newId } from '#server/kernel/ids.ts';
import { batching } from '#server/platform/batching.ts';
import { log } from '#server/platform/log.ts';
import { ownSql } from '#server/platform/sql.ts';
import { type CounterKey, isLimited, type Line, linesOf, type Subject } from './subjects.ts';
import { type FullLimit, fullLimits, type Outcome, type Refused, refusalOf, UNAVAILABLE } from './verdict.ts';

/** What a call may cost is reserved before it is made, and settled with what it did cost (interface rule 51 §9.4). */
export type ReserveInput = {
  readonly tenantId: string;
  readonly sandbox: boolean;
  readonly requestId: string;
  readonly subjects: readonly Subject[];
  /** Nano-USD; 0 for a model without a price. */
  readonly estimateNano: bigint;
  /** Input and the most of output. */
  readonly tokens: number;
  /** Start of the call, epoch ms: it is counted in the periods of this instant, however long it takes. */
  readonly now: number;
};

export type Reserved = {
  readonly ok: true;
  /** The reservation's row; null when no limit binds the call, so that nothing had to be reserved. */
  readonly id: string | null;
  readonly lines: readonly Line[];
  /** Limits that are reached and only warn. */
  readonly warnings: readonly FullLimit[];
};

/** How long a call may hold its reservation; afterwards its process is taken for dead (a call takes 15 minutes at most). */
const LIFE_MS = 20 * 60_000;

/**
 * Reserves the estimate with everyone who pays for the call, or with nobody: refused when what is spent and reserved has reached a limit. One statement for
 * all calls of a workspace that ask in one turn. Never throws; without the database it refuses.
 */
export async function reserve(input: ReserveInput): Promise<Reserved | Refused> {
  const all = linesOf(input.subjects, input.now);
  const lines = all.filter(isLimited);
  if (lines.length === 0) return { ok: true, id: null, lines: all, warnings: [] };
  const id = newId();
  try {
    const outcome = await ask(`${input.tenantId}:${input.sandbox}`, { id, input, lines });
    const full = fullLimits(lines, outcome);
    return outcome.refused ? refusalOf(full, input.now) : { ok: true, id, lines: all, warnings: full };
  } catch (error) {
    log.warn({ err: error, request_id: input.requestId }, 'cannot reserve spend; the call is refused');
    return UNAVAILABLE;
  }
}

type Asked = { id: string; input: ReserveInput; lines: readonly Line[] };

const ask = batching<Asked, Outcome>('ai-reserve', {
  most: 100,
  async run(batch) {
    const { tenantId, sandbox } = (batch[0] as Asked).input;
    const counters = new CounterList();
    const calls = batch.map(({ id, input, lines }) => ({
      id,
      request_id: input.requestId,
      expires_at: new Date(input.now + LIFE_MS).toISOString(),
      nano: String(input.estimateNano),
      tokens: String(Math.ceil(input.tokens)),
      lines: lines.map(({ key, nano, tokens, requests, action }) => ({
        c: counters.position(key),
        nano: nano === null ? null : String(nano),
        tokens: tokens === null ? null : String(tokens),
        requests: requests === null ? null : String(requests),
        block: action !== 'warn',
      })),
    }));
    const { rows } = await ownSql().query<{ outcomes: Outcome[] }>({
      name: 'ai-reserve',
      text: 'select ai_reserve($1, $2, $3, $4) as outcomes',
      values: [tenantId, sandbox, JSON.stringify(counters.list), JSON.stringify(calls)],
    });
    return (rows[0] as { outcomes: Outcome[] }).outcomes;
  },
});

/** Distinct counters and the position of each. */
class CounterList {
  readonly list: CounterKey[] = [];
  readonly #positions = new Map<string, number>();

  position(key: CounterKey): number {
    const name = `${key.t} ${key.k} ${key.p} ${key.s}`;
    const known = this.#positions.get(name);
    if (known !== undefined) return known;
    this.#positions.set(name, this.list.length);
    return this.list.push(key) - 1;
  }
}
