import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { browseAuditLogs } from '#server/domain/audit-logs/service.ts';
import { addMembership, createSession, createUser, pruneIdentityData } from '#server/domain/people/service.ts';
import { PICTURE_BYTES } from '#server/domain/pictures/limits.shared.ts';
import { upload } from '#server/domain/pictures/operations.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { db } from '#server/platform/db.ts';
import { take } from '#server/platform/throttle.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handleDashboard } from '#server/trpc/dashboard.ts';
import { frameOf } from '#server/trpc/frame.ts';
import { handle } from './handle.ts';
import { sessionCookie } from './session-cookie.ts';

await testDatabase();

const side = (width: number, height: number, colour = 'rgb(200, 30, 30)') =>
  sharp({ create: { width, height, channels: 3, background: colour } });
const red = await side(64, 48).png().toBuffer();
const blue = await side(40, 90, 'rgb(20, 30, 220)').jpeg().toBuffer();

let count = 0;
/** A person in these workspaces, signed in by a session of their own that may be bound to one of them. */
async function person(memberships: Record<string, MemberRole>, scope: string | null = null) {
  const { id, token } = await db().$transaction(async (tx) => {
    const email = `pictured${++count}@example.test`;
    const now = new Date();
    const user = await createUser(tx, { email, full_name: 'P', password_hash: null, email_verified: true, now });
    for (const [tenant_id, role] of Object.entries(memberships))
      await addMembership(tx, { tenant_id, user_id: user.id, role, source: 'signup', now });
    const session = { user_id: user.id, methods: ['password'], keep: false, ip: null, user_agent: null, now, scope_tenant_id: scope };
    return { id: user.id, token: (await createSession(tx, session)).token };
  });
  const b = browser();
  const as = { authorization: `Bearer ${token}` };
  const upload = (bytes: Uint8Array) => b.call('POST', '/auth/avatars', bytes, as);
  const sent = async (bytes: Uint8Array) => {
    const { status, text, body } = await upload(bytes);
    assert.equal(status, 201, text);
    return String(body.upload_id);
  };
  const useAsPhoto = (avatar_upload_id: string | null) => b.call('PATCH', '/auth/me', { avatar_upload_id }, as);
  const see = async (picture: string, headers: Record<string, string> = {}) => b.get(`/auth/avatars/${picture}`, { ...as, ...headers });
  const setLogo = async (workspaceId: string, logo_upload_id: string | null) => {
    const answer = await handleDashboard(
      new Request('http://localhost/admin/settings', {
        method: 'PATCH',
        headers: { ...as, ...(await front()), 'x-tenant-id': workspaceId, 'content-type': 'application/json' },
        body: JSON.stringify({ logo_upload_id }),
      }),
    );
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const frame = async () => {
    const shown = await frameOf(new Headers(as));
    assert.ok(shown);
    return shown;
  };
  return { id, upload, sent, useAsPhoto, see, setLogo, frame, token };
}

async function front(): Promise<Record<string, string>> {
  const { frontDoorToken } = await import('#server/crypto/derive.ts');
  const { rootKeys } = await import('#server/platform/keys.ts');
  return {
    'x-sallyport-front': frontDoorToken(rootKeys().current),
    'x-sallyport-request-id': crypto.randomUUID(),
    'x-sallyport-ip': '10.0.0.1',
  };
}

const stored = async (id: string) => Buffer.from((await db().pictures.findUniqueOrThrow({ where: { id } })).bytes);

const w = await workspace();
const owner = await person({ [w.tenant.id]: 'owner' });

test('a photo is turned upright, cropped to 256 x 256 WebP, and nothing of where it was taken is left', async () => {
  const source = await sharp({ create: { width: 600, height: 300, channels: 3, background: 'rgb(0, 160, 0)' } })
    .composite([{ input: await side(300, 300).png().toBuffer(), left: 0, top: 0 }])
    .withExif({ IFD0: { Copyright: 'SECRET-STUDIO' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  assert.ok(source.includes('SECRET-STUDIO') && (await sharp(source).metadata()).orientation === 6, 'the test sends what it says');
  const out = await stored(await owner.sent(source));
  const { format, width, height, exif, xmp, icc, orientation } = await sharp(out).metadata();
  assert.deepEqual([format, width, height], ['webp', 256, 256]);
  assert.deepEqual([exif, xmp, icc, orientation], [undefined, undefined, undefined, undefined]);
  assert.ok(!out.includes('SECRET-STUDIO'));
  // Orientation 6: what is left in the file is on top for the reader.
  const colourAt = async (y: number) => {
    const [r, g] = await sharp(out).extract({ left: 128, top: y, width: 1, height: 1 }).raw().toBuffer();
    return { r: Number(r), g: Number(g) };
  };
  const [top, bottom] = [await colourAt(10), await colourAt(245)];
  assert.ok(top.r > 150 && top.g < 90, `red on top, not ${JSON.stringify(top)}`);
  assert.ok(bottom.g > 110 && bottom.r < 90, `green below, not ${JSON.stringify(bottom)}`);
});

/** A PNG chunk. */
function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.byteLength, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
const signature = red.subarray(0, 8);
/** Black, one bit a pixel: 20,000 x 20,000 of them are 50 KB. */
function bomb(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 1 });
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

test('what is no still PNG, JPEG or WebP of a sane size is refused by its content, and the next picture is taken all the same', async () => {
  const frames = [await side(20, 20).png().toBuffer(), await side(20, 20, 'rgb(0, 0, 255)').png().toBuffer()];
  const noise = await sharp({
    create: { width: 64, height: 64, channels: 3, background: 'black', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  })
    .jpeg()
    .toBuffer();
  const moving = Buffer.concat([red.subarray(0, 33), chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])), red.subarray(33)]);
  const hostile: [string, Uint8Array, number, RegExp][] = [
    ['a bomb', bomb(20_000, 20_000), 400, /25 million pixels/],
    ['a thread of pixels', bomb(12_001, 20), 400, /12,000 pixels per side/],
    ['a dot', await side(2, 2).png().toBuffer(), 400, /too small/],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), 415, /This is an SVG/],
    ['SVG behind a declaration', Buffer.from('\ufeff<?xml version="1.0"?><svg/>'), 415, /This is an SVG/],
    ['GIF', await side(20, 20).gif().toBuffer(), 415, /This is a GIF/],
    ['TIFF', await side(20, 20).tiff().toBuffer(), 415, /This is a TIFF/],
    ['AVIF', Buffer.from('\0\0\0\x1cftypavif\0\0\0\0'), 415, /This is an AVIF/],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), 415, /web page/],
    ['SVG that begins like a PNG', Buffer.concat([signature, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')]), 400, /damaged/],
    ['SVG in the clothes of a WebP', Buffer.from('RIFF\x20\0\0\0WEBP<svg xmlns="http://www.w3.org/2000/svg"/>'), 400, /damaged/],
    [
      'an animated WebP',
      await sharp(frames, { join: { animated: true } })
        .webp()
        .toBuffer(),
      400,
      /Animated/,
    ],
    ['an animated PNG', moving, 400, /Animated/],
    ['a truncated JPEG', noise.subarray(0, Math.floor(noise.length / 2)), 400, /damaged/],
    ['a truncated PNG', red.subarray(0, red.length - 40), 400, /damaged/],
    ['a truncated WebP', (await side(200, 200).webp({ lossless: true }).toBuffer()).subarray(0, 40), 400, /damaged/],
    ['nothing', new Uint8Array(), 415, /an empty file/],
    ['too many bytes', Buffer.concat([red, Buffer.alloc(PICTURE_BYTES)]), 413, /must not exceed/],
  ];
  for (const [what, bytes, status, words] of hostile) {
    const answer = await owner.upload(bytes);
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
    assert.match(String(answer.body.message), words, what);
  }
  const polyglot = Buffer.concat([red, Buffer.from('<script>alert(document.domain)</script>')]);
  assert.ok(!(await stored(await owner.sent(polyglot))).includes('script'));
});

test('a picture is used once and by its sender alone; a replaced one is gone, and each change is in the audit log', async () => {
  const stranger = await person({});
  const [first, second, theirs] = [await owner.sent(red), await owner.sent(blue), await stranger.sent(red)];
  assert.equal((await owner.useAsPhoto(first)).status, 200);
  assert.equal((await owner.frame()).user.photo, first);
  const unknown = await owner.useAsPhoto(crypto.randomUUID());
  assert.equal(unknown.status, 400);
  for (const wrong of [first, theirs, 'x', 'a'.repeat(100)]) {
    const refused = await owner.useAsPhoto(wrong);
    assert.deepEqual([refused.status, refused.body.message], [unknown.status, unknown.body.message], wrong);
    assert.equal((await owner.setLogo(w.tenant.id, wrong)).status, 400, wrong);
  }
  assert.equal((await owner.frame()).user.photo, first, 'a refused change takes nothing down');
  const before = await db().users.findUniqueOrThrow({ where: { id: owner.id } });
  const both = await Promise.all([owner.useAsPhoto(second), owner.useAsPhoto(second)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400], 'of two at once one uses it');
  assert.equal((await owner.see(first)).status, 404);
  assert.equal((await owner.see(second)).status, 200);
  assert.equal((await owner.useAsPhoto(null)).status, 200);
  assert.equal((await owner.frame()).user.photo, null);
  assert.equal((await owner.see(second)).status, 404);
  assert.equal((await owner.useAsPhoto(null)).status, 200, 'nothing is there to take down');
  const after = await db().users.findUniqueOrThrow({ where: { id: owner.id } });
  assert.deepEqual(after.updated_at, before.updated_at, 'a form with the name of the person is not overtaken');
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'user', resource_id: owner.id } });
  assert.equal(entries.length, 3);
  for (const { details } of entries) assert.deepEqual((details as { changes: object[] }).changes, [{ field: 'photo', changed: true }]);
});

test('a photo is seen by who shares a workspace with the person, a logo by members, an upload by its sender; anybody else has one answer', async () => {
  const other = await workspace();
  const colleague = await person({ [w.tenant.id]: 'member', [other.tenant.id]: 'owner' });
  const bound = await person({ [w.tenant.id]: 'viewer', [other.tenant.id]: 'viewer' }, other.tenant.id);
  const foreign = await person({ [other.tenant.id]: 'owner' });
  const [photo, logo, waiting] = [await owner.sent(red), await owner.sent(blue), await owner.sent(red)];
  await owner.useAsPhoto(photo);
  assert.equal((await owner.setLogo(w.tenant.id, logo)).body.logo, logo);
  const status = async (who: typeof owner, picture: string) => (await who.see(picture)).status;
  for (const [who, sees] of [
    [owner, [200, 200, 200]],
    [colleague, [200, 200, 404]],
    [bound, [404, 404, 404]],
    [foreign, [404, 404, 404]],
  ] as const)
    assert.deepEqual([await status(who, photo), await status(who, logo), await status(who, waiting)], sees);
  const same = ({ request_id: _, ...body }: Record<string, unknown>) => body;
  const unknown = await foreign.see(crypto.randomUUID());
  for (const hidden of [photo, logo, waiting, 'nonsense']) assert.deepEqual(same((await foreign.see(hidden)).body), same(unknown.body));
  assert.equal((await browser().get(`/auth/avatars/${photo}`)).status, 401);
  assert.equal((await colleague.frame()).workspaces.find(({ id }) => id === w.tenant.id)?.logo, logo);
  assert.equal((await foreign.frame()).workspaces[0]?.logo, null);

  const face = await colleague.sent(blue);
  await colleague.useAsPhoto(face);
  const inTimeline = async () =>
    (await browseAuditLogs(w.member('viewer'), { limit: 50 })).entries.find(({ actor }) => actor.id === colleague.id)?.actor.photo;
  assert.equal(await inTimeline(), face);

  await db().memberships.updateMany({ where: { user_id: colleague.id, tenant_id: w.tenant.id }, data: { removed_at: new Date() } });
  assert.deepEqual([await status(colleague, photo), await status(colleague, logo)], [404, 404], 'who was removed sees nothing more');
  assert.deepEqual([await inTimeline(), await status(owner, face)], [null, 404], 'and is not seen');
  await db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: new Date() } });
  assert.equal(await status(owner, logo), 404, 'a deleted workspace shows nothing');
  await db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: null } });
});

test('underneath, a workspace reaches no picture but its logo, neither its bytes nor by hanging what another person sent', async () => {
  const [waiting, logo] = [await owner.sent(red), await owner.sent(blue)];
  await owner.setLogo(w.tenant.id, logo);
  const other = await workspace();
  const ids = (ctx: Ctx) => read(ctx, (tx) => tx.$queryRaw<{ id: string }[]>`select id::text from pictures`);
  assert.deepEqual([await ids(w.live), await ids(other.live)], [[{ id: logo }], []]);
  for (const statement of [
    'select bytes from pictures',
    'update pictures set tenant_id = app_tenant()',
    "insert into pictures (id, tenant_id, etag, bytes) values (gen_random_uuid(), app_tenant(), 'a', 'b')",
  ])
    await assert.rejects(
      read(other.live, (tx) => tx.$executeRawUnsafe(statement)),
      /permission denied/,
      statement,
    );
  const hung = (person: string) =>
    read(other.live, (tx) => tx.$queryRaw<{ hung: boolean }[]>`select hang_logo(${waiting}::uuid, ${person}::uuid, '-infinity') as hung`);
  assert.deepEqual(await hung(crypto.randomUUID()), [{ hung: false }]);
  assert.equal((await owner.see(waiting)).status, 200);
});

test('a picture comes with its type and no way to run, is kept by this browser alone, and is not sent twice', async () => {
  const photo = await owner.sent(red);
  await owner.useAsPhoto(photo);
  const { headers, text } = await owner.see(photo);
  assert.ok(text.includes('WEBP'));
  for (const [name, value] of Object.entries({
    'content-type': 'image/webp',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, max-age=31536000, immutable',
  }))
    assert.equal(headers.get(name), value);
  const again = await owner.see(photo, { 'if-none-match': `"old", ${headers.get('etag')}` });
  assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', headers.get('etag')]);
  assert.equal((await owner.see(photo, { 'if-none-match': '"old"' })).status, 200);
});

test('a logo takes settings:update: a viewer, an editor and a stranger set none, and a page elsewhere uploads none', async () => {
  for (const role of ['viewer', 'editor', 'member'] as const) {
    const who = await person({ [w.tenant.id]: role });
    const { status, body } = await who.setLogo(w.tenant.id, await who.sent(red));
    assert.deepEqual([status, body.code], [403, 'role_denied'], role);
  }
  const stranger = await person({});
  assert.equal((await stranger.setLogo(w.tenant.id, await stranger.sent(red))).body.code, 'not_a_member');
  await owner.setLogo(w.tenant.id, await owner.sent(red));
  assert.equal((await owner.setLogo(w.tenant.id, null)).body.logo, null);
  assert.equal(await db().pictures.count({ where: { tenant_id: w.tenant.id } }), 0);
  const last = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: w.tenant.id, resource_type: 'tenant' },
    orderBy: { seq: 'desc' },
  });
  assert.deepEqual((last.details as { changes: object[] }).changes, [{ field: 'logo', changed: true }]);

  const session = { token: owner.token, expires_at: new Date(Date.now() + 60_000) };
  const cookie = (await sessionCookie(session, new Date())).replace(/;.*/s, '');
  const elsewhere: Record<string, string | null>[] = [
    {},
    { origin: 'https://evil.test' },
    { origin: null, 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of elsewhere)
    assert.equal((await browser().call('POST', '/auth/avatars', red, { cookie, ...headers })).body.code, 'csrf_failed');
});

test('who uploads and uploads keeps the newest five: storage is not filled with what nobody uses', async () => {
  const busy = await person({});
  const sent: string[] = [];
  for (let i = 0; i < 7; i++) sent.push(await busy.sent(red));
  const kept = await db().pictures.findMany({ where: { uploaded_by: busy.id }, orderBy: { created_at: 'asc' } });
  assert.deepEqual(
    kept.map(({ id }) => id),
    sent.slice(2),
  );
  assert.equal((await busy.useAsPhoto(sent[0] ?? null)).status, 400);
  assert.equal((await busy.useAsPhoto(sent[6] ?? null)).status, 200);
});

/** Counts one upload of the person. */
const mayUpload = async (id: string) => (await take({ what: 'picture', subject: id, limit: 30, window_sec: 600 }, new Date())).allowed;

test('a picture that takes all the time there is counts as ten: nobody holds up everybody else with a few accounts', async () => {
  const slow = await person({});
  await owner.sent(red);
  mock.timers.enable({ apis: ['setTimeout'] });
  const refused = upload.run({ user: { id: slow.id }, now: new Date(), db: db() } as SignedInCtx, { bytes: red }, []);
  await new Promise(setImmediate);
  mock.timers.tick(10_000);
  mock.timers.reset();
  await assert.rejects(refused, { type: 'invalid', message: /takes too long/ });
  let left = 0;
  while (await mayUpload(slow.id)) left++;
  assert.equal(left, 30 - 9, 'and itself, when it comes in');
});

test('who has sent too many pictures is refused before a byte of the next is read', async () => {
  const busy = await person({});
  for (let i = 0; i < 30; i++) assert.ok(await mayUpload(busy.id));
  let read = false;
  const pull = (controller: ReadableStreamDefaultController) => {
    read = true;
    controller.close();
  };
  const body = new ReadableStream({ pull }, { highWaterMark: 0 });
  const headers = { authorization: `Bearer ${busy.token}`, ...(await front()) };
  const init = { method: 'POST', headers, body, duplex: 'half' };
  const answer = await handle(new Request('http://localhost/auth/avatars', init as RequestInit));
  assert.deepEqual([answer.status, read], [429, false]);
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
});

test('an unused upload goes after an hour and is of no use then; pictures go with the person and the workspace', async () => {
  const [mine, there] = [await person({}), await workspace()];
  const boss = await person({ [there.tenant.id]: 'owner' });
  const [photo, waiting, logo] = [await mine.sent(red), await mine.sent(blue), await boss.sent(red)];
  await mine.useAsPhoto(photo);
  await boss.setLogo(there.tenant.id, logo);
  await pruneIdentityData(db(), new Date());
  assert.equal((await mine.see(waiting)).status, 200);
  await db().pictures.updateMany({ where: { id: { in: [photo, waiting, logo] } }, data: { created_at: new Date(Date.now() - 3_601_000) } });
  assert.equal((await mine.useAsPhoto(waiting)).status, 400);
  await pruneIdentityData(db(), new Date());
  const left = async () => (await db().pictures.findMany({ where: { id: { in: [photo, waiting, logo] } } })).map(({ id }) => id).sort();
  assert.deepEqual(await left(), [photo, logo].sort(), 'what is used stays');
  await db().users.delete({ where: { id: boss.id } });
  assert.deepEqual(await left(), [photo, logo].sort(), 'the logo is the workspace’s');
  await db().users.delete({ where: { id: mine.id } });
  await db().tenant_master_keys.deleteMany({ where: { tenant_id: there.tenant.id } });
  await db().tenants.delete({ where: { id: there.tenant.id } });
  assert.deepEqual(await left(), []);
});
