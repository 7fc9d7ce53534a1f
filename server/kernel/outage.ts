/**
 * What an error says of the database: `refused`, no connection was opened; `lost`, an open one ended; `read_only`, the server is a standby or takes no
 * changes; `overloaded`, it ended the statement for want of time or room.
 */
export type Outage = 'refused' | 'lost' | 'read_only' | 'overloaded';

/** Of errors of sockets and of Prisma, which have no SQLSTATE. */
const CODES: Readonly<Record<string, Outage>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'refused',
  EAI_AGAIN: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  ENOENT: 'refused', // the socket file of a server that isn't there
  ECONNRESET: 'lost',
  EPIPE: 'lost',
  ETIMEDOUT: 'lost',
  P1001: 'refused',
  P1002: 'refused',
  P1008: 'overloaded',
  P1017: 'lost',
  P2024: 'refused',
  P2028: 'overloaded', // no transaction could be begun, or it was rolled back because it took too long
};

const ours = new WeakSet<object>();

/** Marks an error as one of the service's own database or counter store, and gives it back: sockets say the same of anybody's. */
export function asOurs<T>(error: T): T {
  if (typeof error === 'object' && error !== null) ours.add(error);
  return error;
}

/** Whether an error, or one that caused it, was met by the service's own connections. Prisma has no others. */
export const isOurs = (error: unknown): boolean => causesOf(error).some((e) => typeof e === 'object' && (ours.has(e) || isOfPrisma(e)));

const isOfPrisma = ({ name }: Reported): boolean => typeof name === 'string' && /^(?:PrismaClient|DriverAdapterError$)/.test(name);

/** What a SQLSTATE says, wherever it was met. This is the one list of them: who answers callers and who keeps connections read it. */
export function outageOfState(state: string): Outage | undefined {
  if (state === '25006') return 'read_only';
  // Connections that are refused: the server starts, stops or has no room for more.
  if (state === '57P03' || state === '53300' || state === '08001' || state === '08004') return 'refused';
  // The classes of lost connections, the ends that an administrator or a limit brings, and a transaction that stood idle for too long.
  if (/^(?:08...|57P..|25P03)$/.test(state)) return 'lost';
  // A statement, transaction or lock that takes too long, want of memory or disk, and a fault of the server's disk.
  if (/^(?:57014|25P04|55P03|53...|58...)$/.test(state)) return 'overloaded';
  return undefined;
}

/** The driver and Prisma's adapter give some losses no code, or the code of the query that met them. */
const WORDS: readonly [RegExp, Outage][] = [
  [
    /timeout exceeded when trying to connect|timeout expired|connection timeout|connect (?:ECONNREFUSED|ENOENT)|the database system is (?:starting up|shutting down|in recovery mode|not (?:yet )?accepting connections)|Can't reach database/i,
    'refused',
  ],
  [
    /connection terminated|terminating connection|connection error and is not queryable|Client was closed|write EPIPE|read ECONNRESET|Query read timeout/i,
    'lost',
  ],
];

type Reported = {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  cause?: unknown;
  meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } };
};

/** The SQLSTATE that an error of the driver or of Prisma carries itself; an empty text when it has none. */
export function sqlStateOf(error: unknown): string {
  const { code, meta } = (error ?? {}) as Reported;
  const state = meta?.driverAdapterError?.cause?.originalCode ?? code;
  return typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) ? state : '';
}

/** What an error that the service's own connections met says of its database; undefined for what others' hosts said in the same words. */
export const outageOf = (error: unknown): Outage | undefined => (isOurs(error) ? anyOutageOf(error) : undefined);

/** What an error, or one that caused it, says of whatever was connected to, whoever's that is: for the log, and for tools that have nothing but our database. */
export function anyOutageOf(error: unknown): Outage | undefined {
  for (const e of causesOf(error)) {
    const { code, message } = e;
    const found = outageOfState(sqlStateOf(e)) ?? (typeof code === 'string' ? CODES[code] : undefined);
    const said = found ?? (typeof message === 'string' ? WORDS.find(([words]) => words.test(message))?.[1] : undefined);
    if (said) return said;
  }
  return undefined;
}

/** The error and what caused it, the nearest first. */
function causesOf(error: unknown): Reported[] {
  const causes: Reported[] = [];
  for (let e = error as Reported | null | undefined; e && causes.length < 5; e = e.cause as Reported | null | undefined) causes.push(e);
  return causes;
}
