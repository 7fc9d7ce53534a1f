// The wire of /agent/v1, as the control plane documents it.

export type Mode = 'control' | 'intercept' | 'server' | 'proxy';

export type Route = {
  /** The target's host name, without a port: only routes of a scheme's own port are named. */
  host: string;
  /** `/`, or a path without a slash at its end. */
  base_path: string;
  slug: string;
  allowed_methods?: string[] | null;
};

export type InterceptRule = {
  id?: string;
  match_host: string;
  match_path_prefix: string;
  match_secret_ref?: string | null;
  secret_id: string;
  environment?: string | null;
  response_format: 'aws_sm' | 'aws_ssm' | 'azure_kv' | 'gcp_sm' | 'plain';
  allowed_uids?: number[] | null;
};

export type DbListener = {
  id: string;
  port: number;
  upstream: { host: string; port: number; database: string | null; username: string | null; tls_mode: 'prefer' | 'require' | 'disable' };
  engine: 'postgres' | 'mysql' | 'mongodb' | 'redis';
  credential_secret_id: string;
  allowed_uids?: number[] | null;
};

/** Everything in base64; a ciphertext ends with its tag. `aad` names tenant, agent, secret, version and window. */
export type WrappedSecret = {
  id: string;
  name: string;
  environment: string | null;
  version: number;
  alg: string;
  wrapped_cek: string;
  wrap_nonce: string;
  ciphertext: string;
  nonce: string;
  aad: string;
  /** Hosts it may be sent to; null for any. */
  allowed_hosts?: string[] | null;
};

/** A route as a data plane inside the customer's network serves it. */
export type ServedRoute = {
  id: string;
  name: string;
  slug: string | null;
  environment: string;
  target_base_url: string;
  allowed_methods: string[] | null;
  requires_clients: boolean;
  /** Clients that count where clients are required. */
  client_ids: string[];
  ip_allowlist: string[];
  rate_limit: { requests: number; window_sec: number; per_client: boolean } | null;
  injection_rules: { headers: Record<string, string | null>; query: Record<string, string | null> };
  timeouts: { timeout_ms: number };
  /** The setting that only the service can carry out; null when there is none. */
  unserved: string | null;
};

/** What there is to do, polled every 30 s and signed by the control plane. */
export type Manifest = {
  mode: Mode;
  environment: string | null;
  proxy_url: string;
  routes: Route[];
  intercept_rules: InterceptRule[];
  db_listeners: DbListener[];
  /** Names what the bundle of now holds, in modes that decrypt; null in all others. */
  content?: string | null;
  etag: string;
  sig: string;
};

/** What the agent works from for one window, signed by the control plane. */
export type Bundle = {
  v: number;
  agent_id: string;
  tenant_id: string;
  sandbox: boolean;
  mode: Mode;
  window: string;
  issued_at: string;
  expires_at: string;
  routes: unknown[];
  clients: { id: string; name: string; ip_ranges: string[] }[];
  secrets: WrappedSecret[];
  limits: { requests_per_second: number | null; offline_grace_hours: number };
  content?: string;
  etag: string;
  sig: string;
};

export type SessionAnswer = {
  session_token: string;
  window: string;
  issued_at: string;
  expires_at: string;
  mode: Mode;
  proxy_url: string;
  bundle: Bundle | null;
  etag: string;
};

export type CommandName = 'doctor' | 'scan' | 'refresh' | 'update';
export type Command = { id: string; command: CommandName; args: Record<string, unknown> | null };
export type HeartbeatAnswer = { ok: boolean; commands: Command[]; server_time: string; revoked: boolean; pushed?: boolean };
