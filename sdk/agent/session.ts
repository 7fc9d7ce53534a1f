import type { ControlPlane } from './control-plane.ts';
import type { Home } from './home.ts';
import { type AgentKeys, isSignedBy, windowKey } from './keys.ts';
import type { Bundle, Manifest, Mode, SessionAnswer } from './protocol.ts';

export type SessionOptions = {
  home: Home;
  keys: AgentKeys;
  controlPlane: ControlPlane;
  controlPlaneKey: string;
  fingerprint: string;
  version: string;
  buildSig: string | null;
  /** What this host was enrolled for; the control plane's answer overrules it. */
  mode: Mode;
  facts: { hostname: string; os: string; arch: string };
  offlineGraceHours: number;
  now?: () => number;
};

export type Session = {
  /** The token for calls through the proxy; undefined once it has expired. */
  token(): string | undefined;
  /** What routes and rules there are; undefined once the bundle has expired. */
  manifest(): Manifest | undefined;
  bundle(): Bundle | undefined;
  /** As the control plane has it now: it may have been switched there. */
  mode(): Mode;
  /** The key that the bundle's secrets are wrapped under, derived for this use. */
  key(): Buffer | undefined;
  /** Asks for a new session; keeps the old one when that fails. */
  refresh(): Promise<void>;
  /** Asks for a newer manifest. `true` when there was one. */
  poll(): Promise<boolean>;
  /** Whether the manifest says that a bundle of now would hold something else. */
  isBehind(): boolean;
  /** Milliseconds until the next session should be asked for. */
  untilRefresh(): number;
  /** Forgets everything, on disk too. */
  wipe(): void;
};

const MINUTE = 60_000;

/** Owns the session: the bundle as received on disk (still wrapped), the token and everything derived in memory only. */
export function createSession(options: SessionOptions): Session {
  const { home, keys, controlPlane, controlPlaneKey } = options;
  let { mode } = options;
  const now = options.now ?? Date.now;
  let bundle = cached();
  let manifest: Manifest | undefined;
  let held: { token: string; expires: number } | undefined;

  /** A bundle that someone changed on disk is no bundle. */
  function cached(): Bundle | undefined {
    const text = home.read('bundle');
    if (text === undefined) return undefined;
    try {
      const found = JSON.parse(text) as Bundle;
      if (belongs(found)) return found;
    } catch {
      // Not JSON: as good as changed.
    }
    home.remove('bundle');
    return undefined;
  }

  const belongs = (found: Bundle) => isSignedBy(controlPlaneKey, found) && found.agent_id === keys.agentId;

  const holds = () => bundle !== undefined && now() < Date.parse(bundle.expires_at) + options.offlineGraceHours * 60 * MINUTE;

  return {
    token: () => (held && now() < held.expires ? held.token : undefined),
    manifest: () => (holds() ? manifest : undefined),
    bundle: () => (holds() ? bundle : undefined),
    mode: () => mode,
    key: () => (holds() && bundle ? windowKey(keys, bundle.window) : undefined),
    async refresh() {
      const { body } = await controlPlane.signed('POST', '/agent/v1/session', {
        machine_fingerprint: options.fingerprint,
        version: options.version,
        build_sig: options.buildSig ?? '',
        mode,
        ...options.facts,
        ...(bundle ? { have_etag: bundle.etag } : {}),
      });
      const answer = dataOf<SessionAnswer>(body);
      if (answer.bundle) {
        if (!belongs(answer.bundle) || answer.bundle.window !== answer.window) {
          // The token is good all the same, and the report goes with it.
          await controlPlane
            .withToken('POST', '/agent/v1/tamper', answer.session_token, {}, { kind: 'bad_bundle', detail: `window ${answer.window}` })
            .catch(() => undefined);
          throw new BadSignature('session bundle');
        }
        home.write('bundle', JSON.stringify(answer.bundle));
        bundle = answer.bundle;
      }
      mode = answer.mode;
      held = { token: answer.session_token, expires: Date.parse(answer.expires_at) };
    },
    async poll() {
      const token = held?.token;
      if (token === undefined) return false;
      const etag = manifest?.etag;
      const { status, body } = await controlPlane.withToken(
        'GET',
        '/agent/v1/manifest',
        token,
        etag ? { 'if-none-match': `W/"${etag}"` } : {},
      );
      if (status === 304) return false;
      const newer = dataOf<Manifest>(body);
      if (!isSignedBy(controlPlaneKey, newer as unknown as Record<string, unknown>)) throw new BadSignature('manifest');
      manifest = newer;
      return true;
    },
    isBehind: () => typeof manifest?.content === 'string' && bundle !== undefined && bundle.content !== manifest.content,
    untilRefresh() {
      if (!held || !bundle) return 0;
      const left = held.expires - now();
      return Math.max(left - spareOf(left, Math.random()), 1000);
    },
    wipe() {
      bundle = undefined;
      manifest = undefined;
      held = undefined;
      home.remove('bundle');
    },
  };
}

/**
 * What is left of a session when it is renewed, in milliseconds. An hour's outlives its window by ten minutes and is renewed from minute 50 on; what was
 * fetched since then brings nothing new before the next window, so it is renewed in the ten minutes after the hour. One of five minutes ends with its window.
 */
export const spareOf = (left: number, random: number): number =>
  left > 20 * MINUTE ? (20 - random * 8) * MINUTE : left * (0.3 + random * 0.1);

/** The control plane's answer, or one in its name, didn't carry its signature: what was there before stays in use. */
export class BadSignature extends Error {
  constructor(what: string) {
    super(`The ${what} isn’t signed by the control plane that this agent was enrolled at. The one before it stays in use.`);
  }
}

/** Answers come in the management envelope, or bare. */
export function dataOf<T>(body: unknown): T {
  const { data } = (body ?? {}) as { data?: T };
  return data ?? (body as T);
}
