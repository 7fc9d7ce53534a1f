import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import test from 'node:test';
import { listen } from '../../http-out/upstream.fixture.ts';
import { faultOf } from '../databases.fixture.ts';
import { type RdsPlace, rdsToken } from './token.ts';

Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  AWS_EC2_METADATA_DISABLED: 'true',
});
const place: RdsPlace = {
  host: 'shop.abc123.eu-west-1.rds.amazonaws.com',
  port: 5432,
  region: 'eu-west-1',
  username: 'app/user+1',
  roleArn: null,
  externalId: null,
  tenantId: '3f0c1c55-0d8a-4f9c-9d43-0f3f3f3f3f3f',
};

/** Signature Version 4 of a presigned query, by its documentation and not by the SDK. */
function signatureOf(token: string, secret: string): string {
  const url = new URL(`https://${token}`);
  const rfc3986 = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${rfc3986(name)}=${rfc3986(value)}`)
    .sort()
    .join('&');
  const date = url.searchParams.get('X-Amz-Date') ?? '';
  const scope = `${date.slice(0, 8)}/eu-west-1/rds-db/aws4_request`;
  const sha = (text: string) => createHash('sha256').update(text).digest('hex');
  const canonical = ['GET', '/', query, `host:${url.host}`, '', 'host', sha('')].join('\n');
  const key = [date.slice(0, 8), 'eu-west-1', 'rds-db', 'aws4_request'].reduce<Buffer>(
    (under, part) => createHmac('sha256', under).update(part).digest(),
    Buffer.from(`AWS4${secret}`),
  );
  return createHmac('sha256', key)
    .update(['AWS4-HMAC-SHA256', date, scope, sha(canonical)].join('\n'))
    .digest('hex');
}

test('the token is the presigned query that an independent signer makes', async () => {
  const token = await rdsToken(place);
  assert.ok(token.startsWith('shop.abc123.eu-west-1.rds.amazonaws.com:5432/?Action=connect&'), token);
  const { searchParams: query } = new URL(`https://${token}`);
  assert.deepEqual(
    [query.get('DBUser'), query.get('X-Amz-Expires'), query.get('X-Amz-Algorithm')],
    ['app/user+1', '900', 'AWS4-HMAC-SHA256'],
  );
  assert.match(query.get('X-Amz-Credential') ?? '', /^AKIDEXAMPLE\/\d{8}\/eu-west-1\/rds-db\/aws4_request$/);
  assert.equal(query.get('X-Amz-Signature'), signatureOf(token, process.env.AWS_SECRET_ACCESS_KEY ?? ''));
  assert.ok(!token.includes('wJalrXUtnFEMI'));
});

test('a role is assumed with its external ID and no rights but to connect (answers of STS replayed)', async () => {
  let asked = new URLSearchParams();
  let status = 200;
  const sts = await listen(
    createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      asked = new URLSearchParams(body);
      response.writeHead(status, { 'content-type': 'text/xml' });
      response.end(
        status === 200
          ? `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIATEST</AccessKeyId><SecretAccessKey>role secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>${new Date(Date.now() + 900_000).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`
          : '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User: arn:aws:iam::111122223333:user/operator is not authorized</Message></Error></ErrorResponse>',
      );
    }),
  );
  process.env.AWS_ENDPOINT_URL_STS = `http://127.0.0.1:${sts}`;
  const roleArn = 'arn:aws:iam::999988887777:role/connect';
  const token = await rdsToken({ ...place, roleArn, externalId: 'ours' });
  assert.deepEqual(
    [asked.get('Action'), asked.get('RoleArn'), asked.get('ExternalId'), asked.get('DurationSeconds'), asked.get('RoleSessionName')],
    ['AssumeRole', roleArn, 'ours', '900', `sallyport-${place.tenantId}`],
  );
  assert.deepEqual(JSON.parse(asked.get('Policy') ?? '').Statement, [{ Effect: 'Allow', Action: 'rds-db:connect', Resource: '*' }]);
  const { searchParams: query } = new URL(`https://${token}`);
  assert.deepEqual([query.get('X-Amz-Security-Token'), query.get('X-Amz-Signature')], ['session', signatureOf(token, 'role secret')]);

  status = 403;
  const fault = await faultOf(rdsToken({ ...place, roleArn, externalId: null }));
  assert.deepEqual(
    [fault.type, fault.stage, fault.code, fault.text],
    ['database_error', 'auth', 'AccessDenied', 'AWS did not let the role be assumed.'],
  );
  process.env.AWS_ENDPOINT_URL_STS = 'http://127.0.0.1:1';
  assert.equal((await faultOf(rdsToken({ ...place, roleArn }))).text, 'AWS could not be reached.');
  assert.equal((await faultOf(rdsToken({ ...place, region: 'x.evil.example#' }))).text, 'This is not a region of AWS.');
});
