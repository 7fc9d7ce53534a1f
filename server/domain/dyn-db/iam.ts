import type { Ctx } from '#server/kernel/context.ts';
import { DatabaseFault } from '#server/platform/databases/fault.ts';
import { rdsToken } from '#server/platform/databases/iam/token.ts';
import { portOf, refusalOf } from './refusals.ts';
import type { ConnectionRow } from './store.ts';

export type Signing = { row: ConnectionRow; external_id: string | null };

/**
 * A signed token of RDS, which logs in for fifteen minutes. The role is assumed with the workspace's own external ID, which its owner asks for: nobody else's
 * connection can name that role. @throws Refusal database_unreachable, database_error, database_timeout
 */
export async function iamToken({ tenant_id }: Pick<Ctx, 'tenant_id'>, { row, external_id }: Signing): Promise<string> {
  const { host, iam_region, iam_db_user, connect_options } = row;
  try {
    return await rdsToken({
      ...{ host, port: portOf(row), region: iam_region ?? '', username: iam_db_user ?? '', tenantId: tenant_id },
      ...{ roleArn: connect_options.role_arn ?? null, externalId: external_id },
    });
  } catch (error) {
    throw error instanceof DatabaseFault ? refusalOf(error) : error;
  }
}
