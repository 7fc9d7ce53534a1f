import { within } from '../deadline.ts';
import { DatabaseFault } from '../fault.ts';

export type RdsPlace = {
  host: string;
  port: number;
  region: string;
  username: string;
  /** Null: the operator's own identity signs. */
  roleArn: string | null;
  externalId: string | null;
  /** Named in the session of the role, so that its owner can tell who assumed it. */
  tenantId: string;
};

/** How long RDS takes the token, and the shortest session that STS gives. */
export const TOKEN_SECONDS = 900;
const TIMEOUT_MS = 5_000;
const REGION = /^[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}$/;

/** Whatever the role may do, its session can do no more than this. */
const POLICY = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 'rds-db:connect', Resource: '*' }] });

/**
 * The password of RDS's IAM authentication: a query-presigned GET of service rds-db without its scheme (AWS Signature Version 4). Nothing is sent to the
 * database. The role is assumed at STS, whose host follows from the region; AWS_ENDPOINT_URL_STS of the operator replaces it. @throws DatabaseFault
 */
export async function rdsToken(place: RdsPlace): Promise<string> {
  const { host, port, region, username } = place;
  if (!REGION.test(region)) throw new DatabaseFault('database_error', 'auth', 'This is not a region of AWS.');
  const late = () => new DatabaseFault('database_timeout', 'auth', 'AWS did not answer in time.');
  const signed = async () => {
    const { Signer } = await import('@aws-sdk/rds-signer'); // here and not above: most processes never sign in to RDS
    const credentials = place.roleArn === null ? undefined : await session(place, place.roleArn);
    return new Signer({ hostname: host, port, region, username, ...(credentials && { credentials }) }).getAuthToken();
  };
  try {
    return await within(TIMEOUT_MS, signed(), late);
  } catch (error) {
    throw faultOf(error);
  }
}

async function session({ region, externalId, tenantId }: RdsPlace, roleArn: string) {
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
  const sts = new STSClient({ region, maxAttempts: 1 });
  try {
    const { Credentials: given } = await sts.send(
      new AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: `sallyport-${tenantId}`,
        DurationSeconds: TOKEN_SECONDS,
        Policy: POLICY,
        ...(externalId === null ? {} : { ExternalId: externalId }),
      }),
      { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
    );
    if (!given?.AccessKeyId || !given.SecretAccessKey || !given.SessionToken)
      throw new DatabaseFault('database_error', 'auth', 'AWS gave no credentials.');
    return { accessKeyId: given.AccessKeyId, secretAccessKey: given.SecretAccessKey, sessionToken: given.SessionToken };
  } finally {
    sts.destroy();
  }
}

/** The name of what AWS answered, never its text, which tells of accounts and policies. */
function faultOf(error: unknown): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (name === 'CredentialsProviderError') return new DatabaseFault('database_error', 'auth', 'This deployment has no identity at AWS.');
  if (status === undefined || status >= 500) return new DatabaseFault('database_unreachable', 'auth', 'AWS could not be reached.');
  return new DatabaseFault('database_error', 'auth', 'AWS did not let the role be assumed.', {
    code: name.replace(/\W/g, '').slice(0, 60),
  });
}
