import assert from 'node:assert/strict';
import test from 'node:test';
import { isMintedUsername, mintedPassword, mintedUsername } from './usernames.ts';

const issued = new Date('2026-11-23T18:00:00Z');

test('a username has the role, ten random characters and the time it was issued at', () => {
  assert.match(mintedUsername('readonly', issued), /^svc_readonly_[a-z2-7]{10}_[0-9a-z]{6}$/);
  assert.equal(Number.parseInt(mintedUsername('readonly', issued).slice(-6), 36), issued.getTime() / 1_000);
});

test('a username fits the limit of MySQL for any role and until the year 2100, and is known as minted', () => {
  for (const role of ['a', 'read-only_x12345', 'reporting-service', '0', 'ROLE', '__', 'é', ''])
    for (const date of [issued, new Date('2100-01-01T00:00:00Z')]) {
      const name = mintedUsername(role, date);
      assert.match(name, /^[a-z0-9_]{1,32}$/);
      assert.ok(isMintedUsername(name), name);
    }
  for (const name of ['svc_backup', 'svc_a_b_c', 'root', 'svcXreadonlyXaaaaaaaaaaXt8aeo0', 'svc__aaaaaaaaaa_t8aeo0'])
    assert.ok(!isMintedUsername(name), name);
});

test('a thousand usernames of one second differ', () => {
  assert.equal(new Set(Array.from({ length: 1_000 }, () => mintedUsername('app', issued))).size, 1_000);
});

test('a password has 32 characters of all four classes, each character equally likely', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';
  const counts = new Map<string, number>();
  const draws = 10_000;
  for (let i = 0; i < draws; i += 1) {
    const password = mintedPassword();
    assert.match(password, /^[A-Za-z0-9_-]{32}$/);
    for (const each of [/[A-Z]/, /[a-z]/, /[0-9]/, /[_-]/]) assert.match(password, each);
    for (const character of password) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  // Within a class all are equally likely. The condition favours the two symbols: 1/64 over the chance to have one at all.
  const shares = (characters: string) => [...characters].map((each) => (counts.get(each) ?? 0) / (draws * 32));
  for (const characters of [alphabet.slice(0, 26), alphabet.slice(26, 52), alphabet.slice(52, 62), alphabet.slice(62)]) {
    const all = shares(characters);
    const mean = all.reduce((sum, share) => sum + share, 0) / all.length;
    for (const share of all) assert.ok(Math.abs(share - mean) < mean * 0.12, `${share} of ${mean}`);
  }
});
