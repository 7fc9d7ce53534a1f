// The wire of /agent/v1, as the control plane documents it.

export type Mode = 'control' | 'intercept' | 'server' | 'proxy';

export type Route = {
  id: string;
  slug: string;
  target_base_url: string;
  environment: string | null;
  allowed_methods?: string[] | null;
};

export type InterceptRule = {
  id?: string;
  match_host: string;
  match_path_prefix: string;
  match_secret_ref?: string | null;
  secret_id: string;
  response_format: 'aws_sm' | 'aws_ssm' | 'azure_kv' | 'gcp_sm' | 'plain';
  allowed_uids?: number[] | null;
};

export type DbListener = {
  port: number;
  upstream: string;
  engine: string;
  credential_secret_id: string;
  allowed_uids?: number[] | null;
};

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
};

/** What the agent works from, signed by the control plane. */
export type Manifest = {
  proxy_url: string;
  routes: Route[];
  intercept_rules: InterceptRule[];
  db_listeners: DbListener[];
  etag: string;
  sig: string;
};

export type Bundle = Manifest & {
  v: number;
  agent_id: string;
  tenant_id: string;
  sandbox: boolean;
  mode: Mode;
  window: string;
  issued_at: string;
  expires_at: string;
  secrets: WrappedSecret[];
};

export type SessionAnswer = {
  session_token: string;
  window: string;
  issued_at: string;
  expires_at: string;
  bundle: Bundle | null;
  etag: string;
};

export type CommandName = 'doctor' | 'scan' | 'refresh' | 'update';
export type Command = { id: string; command: CommandName; args: Record<string, unknown> | null };

export type HeartbeatAnswer = { ok: boolean; commands: Command[]; server_time: string; revoked: boolean };
