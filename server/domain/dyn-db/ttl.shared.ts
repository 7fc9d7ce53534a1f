/** Lifetimes of a connection, or of a role, where null inherits. */
export type Ttls = { default_ttl_seconds: number | null; max_ttl_seconds: number | null };

/** A signed token of RDS is good for so long, in seconds. */
export const IAM_TTL_SECONDS = 900;
/** No credential of Test lives longer (interface rule 64). */
export const TEST_TTL_SECONDS = 3_600;

type Where = { connection: Ttls; role: Ttls; iam: boolean; sandbox: boolean };

/** The most seconds that a lease may live, renewals included. */
export function maxTtl({ connection, role, iam, sandbox }: Where): number {
  const bounds = [connection.max_ttl_seconds, role.max_ttl_seconds, iam ? IAM_TTL_SECONDS : null, sandbox ? TEST_TTL_SECONDS : null];
  return Math.min(...bounds.filter((bound): bound is number => bound !== null));
}

/** The seconds that a lease lives: what was asked for, or else the role's default, or else the connection's, cut to the most (interface rule 44 §5). */
export function effectiveTtl(where: Where, asked: number | undefined): number {
  const wanted =
    asked !== undefined && asked > 0 ? asked : (where.role.default_ttl_seconds ?? where.connection.default_ttl_seconds ?? TEST_TTL_SECONDS);
  return Math.min(wanted, maxTtl(where));
}
