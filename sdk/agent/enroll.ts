import { ControlPlaneError, createControlPlane } from './control-plane.ts';
import { type Credentials, openHome } from './home.ts';
import { isSignatureOf } from './keys.ts';
import { hostFacts, machineFingerprint } from './machine.ts';
import type { Mode } from './protocol.ts';
import { dataOf } from './session.ts';
import { type Settings, VERSION } from './settings.ts';

type Enrolled = { agent_id: string; agent_secret: string; mode: Mode; control_plane_key: string; api_base: string };

/** Trades an install token for this host's credentials, which are written for this account alone. Throws with the next step. */
export async function enroll(settings: Settings, token: string): Promise<Credentials> {
  if (settings.apiBase === undefined) throw new Error('Set SVC_AGENT_API to the address of the API.');
  if (!/^svc_ait_[\w-]{43}$/.test(token))
    throw new Error('An install token starts with svc_ait_ and has 51 characters. Copy it from the Agents page.');
  const home = openHome(settings.home);
  const build_sig = home.read('signature')?.trim();
  try {
    const { body } = await createControlPlane(settings.apiBase).plain('POST', '/agent/v1/enroll', {
      token,
      machine_fingerprint: machineFingerprint(home, settings.idFile),
      ...hostFacts(),
      version: VERSION,
      build_sig: build_sig ?? '',
    });
    const { agent_id, agent_secret, mode, control_plane_key, api_base } = dataOf<Enrolled>(body);
    // Reads the key once now, not at the first bundle.
    isSignatureOf(control_plane_key, Buffer.alloc(0), '');
    const credentials = { agent_id, agent_secret, control_plane_key, api_base: api_base || settings.apiBase, mode };
    home.remove('bundle');
    home.write('credentials', `${JSON.stringify(credentials, null, 2)}\n`);
    return credentials;
  } catch (error) {
    if (error instanceof ControlPlaneError && error.type === 'invalid_token')
      throw new Error('This install token is unknown, used or expired. Create a new one on the Agents page.');
    throw error;
  }
}
