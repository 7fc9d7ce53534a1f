import { Refusal } from '#server/kernel/errors.ts';
import type { DatabaseFault } from '#server/platform/databases/fault.ts';
import { DEFAULT_PORTS } from './engines.shared.ts';
import type { ConnectionRow } from './store.ts';

const STAGES = { dns: 'DNS', tcp: 'TCP', tls: 'TLS', ssh: 'SSH', auth: 'login', statement: 'statement' } as const;

/** What a caller is told of a fault: its stage, the server's own code and words, and which statement it was. */
export function refusalOf(fault: DatabaseFault): Refusal {
  const { type, stage, code, text, statement } = fault;
  const where = statement === null ? STAGES[stage] : `statement ${statement}`;
  return new Refusal(type, `${where}: ${[code, text].filter((part) => part).join(' ')}`, {
    cause: fault,
    ...(type === 'agent_offline' ? { retryAfter: 30 } : {}),
  });
}

/** One line for the row that it is kept in. */
export const sentenceOf = (error: unknown): string => (error instanceof Refusal ? error.message.slice(0, 500) : 'an internal error');

export const portOf = ({ port, engine }: Pick<ConnectionRow, 'port' | 'engine'>): number => port ?? DEFAULT_PORTS[engine];
