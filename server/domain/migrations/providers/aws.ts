import { refusalFaultOf, type StoreHttp } from './http.ts';
import { type Cursor, type Provider, ProviderFault, type SourceEntry, TooLarge, VALUE_BYTES } from './provider.ts';

export type AwsGrant = {
  provider: 'aws_sm' | 'aws_ssm';
  role_arn: string;
  external_id: string;
  regions: readonly string[];
  arn_allowlist: readonly string[];
  path_prefixes: readonly string[];
};

type Position = { region: number; prefix: number; token?: string };
type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken: string; expiration: Date };

/** Before the end of temporary credentials. */
const SKEW_MS = 5 * 60_000;
const SESSION = 'svc-migration';

/**
 * AWS Secrets Manager and Parameter Store with AWS's own SDK, over our transport and with temporary credentials of the customer's role. Hosts follow from
 * the region, which was validated.
 */
export function aws(grant: AwsGrant, http: StoreHttp): Provider {
  const common = (region: string) => ({ region, requestHandler: handlerOver(http), maxAttempts: 1 });
  let held: Promise<Credentials> | undefined;
  const credentials = async (): Promise<Credentials> => {
    const known = held && (await held);
    if (known && known.expiration.getTime() - SKEW_MS > Date.now()) return known;
    const next = assume(grant, common(grant.regions[0] as string));
    held = next;
    next.catch(() => {
      if (held === next) held = undefined;
    });
    return next;
  };
  const secretsManager = async (region: string) => {
    const { SecretsManager } = await import('@aws-sdk/client-secrets-manager');
    return new SecretsManager({ ...common(region), credentials: await credentials() });
  };
  const ssm = async (region: string) => {
    const { SSM } = await import('@aws-sdk/client-ssm');
    return new SSM({ ...common(region), credentials: await credentials() });
  };
  const wanted = (arn: string) => grant.arn_allowlist.length === 0 || grant.arn_allowlist.some((one) => matchesArn(one, arn));

  const secrets = async (position: Position, signal: AbortSignal) => {
    const region = grant.regions[position.region] as string;
    const client = await secretsManager(region);
    const page = await client.listSecrets(
      { MaxResults: 100, ...(position.token ? { NextToken: position.token } : {}) },
      { abortSignal: signal },
    );
    const entries = (page.SecretList ?? []).map((one): SourceEntry => {
      const current = Object.entries(one.SecretVersionsToStages ?? {}).find(([, stages]) => stages.includes('AWSCURRENT'));
      const tags = Object.fromEntries((one.Tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value]));
      return {
        ref: one.ARN ?? '',
        name: one.Name ?? '',
        version: current?.[0] ?? null,
        region,
        updated_at: one.LastChangedDate ?? null,
        tags,
      };
    });
    return { entries, token: page.NextToken };
  };
  const parameters = async (position: Position, signal: AbortSignal) => {
    const region = grant.regions[position.region] as string;
    const prefix = grant.path_prefixes[position.prefix];
    const client = await ssm(region);
    const page = await client.describeParameters(
      {
        MaxResults: 50,
        ...(position.token ? { NextToken: position.token } : {}),
        ...(prefix ? { ParameterFilters: [{ Key: 'Name', Option: 'BeginsWith', Values: [prefix] }] } : {}),
      },
      { abortSignal: signal },
    );
    const entries = (page.Parameters ?? []).map((one): SourceEntry => {
      const name = one.Name ?? '';
      return {
        ref: one.ARN ?? `${region}:${name}`,
        name,
        version: String(one.Version ?? ''),
        region,
        updated_at: one.LastModifiedDate ?? null,
        tags: {},
      };
    });
    return { entries, token: page.NextToken };
  };
  const isSecrets = grant.provider === 'aws_sm';

  const list = (cursor: Cursor | null, signal: AbortSignal) =>
    answered(async () => {
      const position = (cursor as Position | null) ?? { region: 0, prefix: 0 };
      const { entries, token } = await (isSecrets ? secrets : parameters)(position, signal);
      return { entries: entries.filter(({ ref }) => wanted(ref)), next: nextOf(grant, position, token) as Cursor | null };
    });

  return {
    probe: async (signal = new AbortController().signal) => {
      for (const region of grant.regions.keys()) await list({ region, prefix: 0 }, signal);
    },
    list,
    readValue: (entry, signal) =>
      answered(async () => {
        if (isSecrets) {
          const client = await secretsManager(entry.region);
          const found = await client.getSecretValue({ SecretId: entry.ref, VersionStage: 'AWSCURRENT' }, { abortSignal: signal });
          const binary = found.SecretString === undefined;
          const bytes = Buffer.from(found.SecretString ?? found.SecretBinary ?? '');
          return sized({ version: found.VersionId ?? '', bytes, binary });
        }
        const client = await ssm(entry.region);
        const { Parameter } = await client.getParameter({ Name: entry.name, WithDecryption: true }, { abortSignal: signal });
        return sized({ version: String(Parameter?.Version ?? ''), bytes: Buffer.from(Parameter?.Value ?? ''), binary: false });
      }),
    close: () => http.close(),
  };
}

function sized<T extends { bytes: Buffer }>(value: T): T {
  if (value.bytes.byteLength <= VALUE_BYTES) return value;
  value.bytes.fill(0);
  throw new TooLarge();
}

/** Pages of a region, then the next prefix of parameters, then the next region. */
function nextOf(grant: AwsGrant, { region, prefix }: Position, token: string | undefined): Position | null {
  if (token) return { region, prefix, token };
  if (prefix + 1 < grant.path_prefixes.length) return { region, prefix: prefix + 1 };
  return region + 1 < grant.regions.length ? { region: region + 1, prefix: 0 } : null;
}

/** `*` at the end, as people write ARNs of policies. */
const matchesArn = (pattern: string, arn: string) => (pattern.endsWith('*') ? arn.startsWith(pattern.slice(0, -1)) : arn === pattern);

/** The role that the customer named, as who this installation is. The external ID stands between its customers. */
async function assume(
  grant: AwsGrant,
  common: { region: string; requestHandler: ReturnType<typeof handlerOver>; maxAttempts: number },
): Promise<Credentials> {
  const { STS } = await import('@aws-sdk/client-sts');
  const answer = await new STS(common).assumeRole({
    RoleArn: grant.role_arn,
    RoleSessionName: SESSION,
    ExternalId: grant.external_id,
    DurationSeconds: 3_600,
  });
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = answer.Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
    throw new ProviderFault('misconfigured', 'The role gave no credentials.');
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken, expiration: Expiration };
}

type SdkRequest = {
  protocol?: string;
  hostname?: string;
  port?: number;
  path?: string;
  method?: string;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
  body?: unknown;
};

/** The SDK's way out: ours, with its guard. Queries don't occur in these protocols. */
function handlerOver(http: StoreHttp) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: SdkRequest, { abortSignal }: { abortSignal?: unknown } = {}) {
      const { protocol = 'https:', hostname = '', port, path = '/', method = 'POST', headers = {}, body } = request;
      const { host: _, ...sent } = headers;
      const answer = await http.send({
        url: `${protocol}//${hostname}${port ? `:${port}` : ''}${path}`,
        method: method as 'POST',
        headers: sent,
        ...(typeof body === 'string' ? { body } : body instanceof Uint8Array ? { body: Buffer.from(body) } : {}),
        ...(abortSignal instanceof AbortSignal ? { signal: abortSignal } : {}),
      });
      const received = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')]));
      return { response: { statusCode: answer.status, headers: received, body: new Uint8Array(answer.body) } };
    },
  };
}

/** What the SDK throws, in our words: its messages may repeat names and ARNs of the customer's, which is fine, but also what was sent. */
async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProviderFault || error instanceof TooLarge) throw error;
    const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number; requestId?: string } };
    const requestId = $metadata?.requestId;
    if (name === 'CredentialsProviderError')
      throw new ProviderFault('misconfigured', 'This installation has no AWS identity. Ask its operator to configure one.', {
        cause: error,
      });
    if (/throttl|toomanyrequests|limitexceeded/i.test(name))
      throw new ProviderFault('throttled', 'AWS limits calls.', { cause: error, requestId });
    if (/accessdenied|unauthorized|expiredtoken|invalidclienttoken/i.test(name))
      throw new ProviderFault(
        'access_denied',
        'AWS refused the call. Check the trust policy, the external ID and the permissions of the role.',
        { cause: error, requestId },
      );
    if (/notfound/i.test(name)) throw new ProviderFault('not_found', "AWS doesn't know the secret.", { cause: error, requestId });
    throw refusalFaultOf($metadata?.httpStatusCode, 'AWS', { cause: error, requestId });
  }
}
