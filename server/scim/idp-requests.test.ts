import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { entraRequests, type IdpRequest, oktaRequests } from './idp-requests.fixture.ts';
import { ask, directory, membershipOf } from './scim.fixture.ts';

await testDatabase();

/** Sends the requests in their order, on the host of a workspace, and looks at what each is answered. */
async function play(requests: readonly IdpRequest[], address: string) {
  const w = await directory();
  let id = '';
  const filled = <T>(template: T): T => JSON.parse(JSON.stringify(template).replaceAll('$DOMAIN', w.domain).replaceAll('$ID', id)) as T;
  for (const request of requests) {
    const { name, method, path, body, status, scimType, shows, totalResults } = filled(request);
    const answer = await ask(method, path, w.scim.token, body, { host: w.tenant.slug });
    assert.equal(answer.status, status, `${name}: ${answer.text}`);
    assert.equal(answer.body?.scimType, scimType, name);
    if (method === 'POST' && status === 201) id = answer.body.id;
    if (totalResults !== undefined) assert.equal(answer.body.totalResults, totalResults, name);
    const shown = answer.body?.Resources ? answer.body.Resources[0] : answer.body;
    const expected = request.shows === undefined ? {} : filled({ shows: request.shows }).shows;
    for (const [member, value] of Object.entries(expected)) assert.deepEqual(shown[member], value, `${name}: ${member}`);
    if (shows?.active !== undefined) assert.equal((await membershipOf(w.tenant.id, `${address}@${w.domain}`)) !== null, shows.active, name);
    if (id) assert.equal(await db().users.count({ where: { email: `${address}@${w.domain}` } }), 1, `${name}: the login address stays`);
  }
}

test('Entra ID tests the connection, creates, matches, updates in both dialects, disables, enables and deletes', () =>
  play(entraRequests, 'ann'));
test('Okta tests the connection, creates, matches, pushes profiles, deactivates and activates', () => play(oktaRequests, 'ben'));
