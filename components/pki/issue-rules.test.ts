import assert from 'node:assert/strict';
import test from 'node:test';
import { effectiveEnd, problemsOf, type Wanted, wantedInput } from './issue-rules.ts';
import type { Role } from './pki-labels.ts';

const role = (more: Partial<Role> = {}): Role => ({
  ...{ id: '', ca_root_id: '', name: 'r', allowed_domains: ['*.example.com'], allow_subdomains: true, allow_wildcards: false },
  ...{
    default_ttl_seconds: 3_600,
    max_ttl_seconds: 86_400,
    key_algorithm: 'ecdsa-p256',
    allow_ip_sans: true,
    created_at: '',
    updated_at: '',
  },
  ...more,
});
const wanted = (more: Partial<Wanted> = {}): Wanted => ({ common_name: '', san_dns: '', san_ip: '', ttl: '', ttl_unit: 'hour', ...more });

test('the call says what was typed, and nothing else', () => {
  assert.deepEqual(wantedInput(wanted()), { subject: {} });
  assert.deepEqual(
    wantedInput(wanted({ common_name: ' a.example.com ', san_dns: 'b.example.com\n', san_ip: '10.0.0.1, 10.0.0.2', ttl: '2' })),
    {
      subject: { common_name: 'a.example.com' },
      san_dns: ['b.example.com'],
      san_ip: ['10.0.0.1', '10.0.0.2'],
      ttl_seconds: 7_200,
    },
  );
});

test('what the role would refuse is told at its field before a verification is spent', () => {
  assert.deepEqual(problemsOf(wanted({ common_name: 'a.example.com', san_dns: 'b.example.com', san_ip: '10.0.0.1' }), role()), {});
  assert.deepEqual(problemsOf(wanted(), role()), { first: 'Enter a name or an IP address first' });
  const told = (more: Partial<Wanted>, of: Partial<Role> = {}) => problemsOf(wanted(more), role(of));
  assert.match(told({ common_name: 'evil.com' }).common_name ?? '', /^evil\.com: no domain of the role matches/);
  assert.match(told({ common_name: 'Jane Doe' }).common_name ?? '', /^Jane Doe: /);
  assert.deepEqual(told({ common_name: 'Jane Doe' }, { allowed_domains: ['*'] }), {});
  assert.match(told({ san_dns: 'a.example.com evil.com' }).san_dns ?? '', /^evil\.com: /);
  assert.match(told({ san_dns: '10.0.0.1' }).san_dns ?? '', /is an IP address/);
  assert.match(told({ san_ip: 'a.example.com' }).san_ip ?? '', /isn’t an IP address/);
  assert.match(told({ san_ip: '10.0.0.1' }, { allow_ip_sans: false }).san_ip ?? '', /takes no IP addresses/);
  for (const ttl of ['0', 'x', '1.5e-3', '-1']) assert.ok(told({ common_name: 'a.example.com', ttl }).ttl, ttl);
});

test('the end is the earliest of what was asked, the role, Test and the intermediate, and says which', () => {
  const now = Date.parse('2026-01-01T00:00:00.000Z');
  const ends = (
    more: Partial<Wanted>,
    { of = {}, days = 30, test: inTest = false }: { of?: Partial<Role>; days?: number; test?: boolean } = {},
  ) => {
    const intermediate = { id: '', serial_hex: '', not_before: '', not_after: new Date(now + days * 86_400_000).toISOString() };
    const end = effectiveEnd({ wanted: wanted(more), role: role(of), intermediate, test: inTest, now });
    return [end?.at.toISOString(), end?.why];
  };
  assert.deepEqual(ends({}), ['2026-01-01T01:00:00.000Z', undefined]);
  assert.deepEqual(ends({ ttl: '48' }), ['2026-01-02T00:00:00.000Z', 'the role allows no more']);
  const long = { max_ttl_seconds: 90 * 86_400 };
  assert.deepEqual(ends({ ttl: '60', ttl_unit: 'day' }, { of: long }), ['2026-01-31T00:00:00.000Z', 'its intermediate ends then']);
  assert.deepEqual(ends({ ttl: '60', ttl_unit: 'day' }, { of: long, days: 90, test: true }), [
    '2026-01-31T00:00:00.000Z',
    'certificates of Test last at most 30 days',
  ]);
  assert.equal(effectiveEnd({ wanted: wanted(), role: role(), intermediate: null, test: false }), undefined);
});
