import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { db } from '#server/platform/db.ts';
import { closeMail } from '#server/platform/mail.ts';
import { testDatabase } from '#server/testing/database.ts';
import { openMail, postMail, retryUnsentMails, sendMail } from './service.ts';
import { knownAddressLink, type Letter, passwordReset, render, signInCode, signUpLink } from './templates.ts';

const smtp = await smtpServer();
await testDatabase({ SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'Sallyport <no-reply@example.test>' });
test.after(() => {
  closeMail();
  smtp.close();
});

const letter = signUpLink('Acme', 'https://admin.test/auth/magic?token=abc');

test('a mail reaches the SMTP server in both forms, and its text is forgotten once it was handed over', async () => {
  await sendMail(db(), { to: 'ada@example.test', kind: 'signup', letter, now: new Date() });
  const raw = smtp.received.at(-1) ?? '';
  assert.match(raw, /To: ada@example\.test/);
  assert.match(raw, /Confirm your email address/);
  assert.match(raw, /text\/plain/);
  assert.match(raw, /text\/html/);
  const row = await db().mails.findFirstOrThrow({ where: { recipient: 'ada@example.test' } });
  assert.ok(row.sent_at);
  assert.deepEqual([row.text, row.html, row.sealed, row.root_key_id], ['', null, null, null]);
});

test('a mail the server refused is tried again by the sweep, and only then counts as sent', async () => {
  smtp.refuse = true;
  await sendMail(db(), { to: 'bob@example.test', kind: 'signup', letter, now: new Date() });
  const refused = await db().mails.findFirstOrThrow({ where: { recipient: 'bob@example.test' } });
  assert.equal(refused.sent_at, null);
  assert.ok(refused.error);
  smtp.refuse = false;
  assert.equal(await retryUnsentMails(db(), new Date()), 0, 'a fresh row still belongs to its writer');
  assert.equal(await retryUnsentMails(db(), new Date(Date.now() + 120_000)), 1);
  assert.ok((await db().mails.findUniqueOrThrow({ where: { id: refused.id } })).sent_at);
});

test('a mail that signs its reader in is stored sealed while it waits, bound to its row; others are not', async () => {
  const now = new Date();
  const post = (to: string, sent: Letter) => postMail(db(), { to, kind: 'signup', letter: sent, now });
  const rows = [];
  for (const name of ['one', 'two'])
    rows.push(await db().mails.findUniqueOrThrow({ where: { id: await post(`${name}@example.test`, letter) } }));
  const [one, two] = rows as [(typeof rows)[0], (typeof rows)[0]];
  const dump = JSON.stringify(one, (_, v) => (v instanceof Uint8Array ? Buffer.from(v).toString('latin1') : v));
  assert.doesNotMatch(dump, /token=abc/);
  assert.match(openMail(one).text, /token=abc/);
  assert.match(openMail(one).html ?? '', /token=abc/);
  assert.throws(() => openMail({ ...one, sealed: two.sealed }), DecryptFailed);
  const notice = await db().mails.findUniqueOrThrow({
    where: { id: await post('three@example.test', { subject: 'Notice', paragraphs: ['x'] }) },
  });
  assert.deepEqual([notice.sealed, openMail(notice).text], [null, notice.text]);
  await db().mails.deleteMany({ where: { sent_at: null } });
});

test('every letter with a code, or a link that carries a token, is stored sealed and names neither in its subject', () => {
  const url = 'https://admin.test/auth/magic?token=abc';
  for (const one of [signUpLink('Acme', url), knownAddressLink(url), signInCode('123456', url), passwordReset(url)]) {
    assert.equal(one.credential, true, one.subject);
    assert.doesNotMatch(one.subject, /\d{6}|token/);
  }
});

test('a mail older than a day is given up', async () => {
  await postMail(db(), { to: 'old@example.test', kind: 'signup', letter, now: new Date(Date.now() - 25 * 3_600_000) });
  assert.equal(await retryUnsentMails(db(), new Date()), 0);
});

test('a workspace name can neither open a mail header nor write markup', () => {
  const hostile = render(signUpLink('<img src=x onerror=alert(1)>"&', 'https://admin.test/?a=1&b=2'));
  assert.doesNotMatch(hostile.html, /<img/);
  assert.match(hostile.html, /&#60;img/);
  assert.equal(render({ subject: 'a\r\nBcc: eve@example.test', paragraphs: [] }).subject, 'a Bcc: eve@example.test');
});

/** Enough of RFC 5321 to take a mail. */
async function smtpServer() {
  const state = { received: [] as string[], refuse: false, port: 0, close: () => {} };
  const server = net.createServer((socket) => {
    let data: string | null = null;
    let buffer = '';
    socket.write('220 test\r\n');
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      buffer += chunk.toString('utf8');
      for (let end = buffer.indexOf('\r\n'); end !== -1; end = buffer.indexOf('\r\n')) {
        const line = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        if (data !== null) {
          if (line !== '.') data += `${line}\n`;
          else {
            state.received.push(data);
            data = null;
            socket.write('250 ok\r\n');
          }
        } else if (line === 'DATA') {
          data = '';
          socket.write('354 go\r\n');
        } else if (line.startsWith('QUIT')) socket.end('221 bye\r\n');
        else socket.write(state.refuse && line.startsWith('RCPT') ? '451 later\r\n' : '250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.port = (server.address() as net.AddressInfo).port;
  state.close = () => void server.close();
  return state;
}

test('nobody sends a letter of their own under our name by signing up with somebody’s address', () => {
  for (const workspace of [
    'Your invoice: https://evil.example/pay',
    'www.evil.example',
    'evil.example',
    'Pay at evil。example/now',
    'write to me@evil.example',
    'Your account was locked. Call the number of our support line at once',
  ]) {
    const { text, html } = render(signUpLink(workspace, 'https://admin.test/auth/magic?token=abc'));
    assert.ok(!`${text}${html}`.includes(workspace) && !/evil/.test(text), workspace);
    assert.match(text, /https:\/\/admin\.test\/auth\/magic\?token=abc/);
  }
  for (const workspace of ['Acme', 'Müller & Söhne', 'Team 4, Berlin'])
    assert.ok(render(signUpLink(workspace, 'https://admin.test/')).text.includes(`"${workspace}"`), workspace);
});
