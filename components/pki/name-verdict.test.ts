import assert from 'node:assert/strict';
import test from 'node:test';
import { verdictOn } from './name-verdict.ts';
import type { Role } from './pki-labels.ts';

const role = (more: Partial<Role>): Role => ({
  ...{ id: '', ca_root_id: '', name: 'r', allowed_domains: ['*.example.com'], allow_subdomains: true, allow_wildcards: false },
  ...{ default_ttl_seconds: 60, max_ttl_seconds: 60, key_algorithm: 'ecdsa-p256', allow_ip_sans: true, created_at: '', updated_at: '' },
  ...more,
});

test('a name is judged as the server judges it, and the verdict says by what', () => {
  assert.deepEqual(verdictOn(role({}), 'A.B.Example.com.'), { ok: true, text: 'Allowed: a.b.example.com, by *.example.com' });
  assert.deepEqual(verdictOn(role({ allowed_domains: ['example.com'] }), 'example.com'), { ok: true, text: 'Allowed: example.com' });
  for (const [text, more, why] of [
    ['example.com', {}, 'no domain of the role matches'],
    ['*.example.com', {}, 'the role takes no wildcards'],
    ['*.com', { allowed_domains: ['*'], allow_wildcards: true }, 'a wildcard needs two labels after it'],
    ['a', { allowed_domains: [] }, 'the role has no domains'],
    ['not a name', {}, 'it isn’t a host name'],
    ['10.0.0.1', { allow_ip_sans: false }, 'the role takes no IP addresses'],
  ] as const)
    assert.deepEqual(verdictOn(role(more as Partial<Role>), text), { ok: false, text: `Not allowed: ${why}` }, text);
  assert.deepEqual(verdictOn(role({}), '2001:DB8:0:0::1'), { ok: true, text: 'Allowed: 2001:db8::1 as an IP address' });
});
