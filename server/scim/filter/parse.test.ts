import assert from 'node:assert/strict';
import test from 'node:test';
import { ScimProblem } from '../problem.ts';
import type { ResourceType } from '../schema/attribute.ts';
import { oauthClientType } from '../schema/oauth-client.ts';
import { userType } from '../schema/user.ts';
import { parseFilter } from './parse.ts';

/** Brackets show how a filter was understood: `[and a [or b c]]`. */
function shape(text: string, type: ResourceType = userType): string {
  const written = (filter: ReturnType<typeof parseFilter>): string => {
    switch (filter.kind) {
      case 'and':
      case 'or':
        return `[${filter.kind} ${filter.parts.map(written).join(' ')}]`;
      case 'not':
        return `[not ${written(filter.part)}]`;
      case 'within':
        return `${filter.path}[${written(filter.part)}]`;
      case 'present':
        return `${filter.path}?`;
      case 'compare':
        return `${filter.path} ${filter.op} ${filter.value instanceof Date ? filter.value.toISOString() : JSON.stringify(filter.value)}`;
    }
  };
  return written(parseFilter(text, type));
}

const refused = (text: string, type: ResourceType = userType) =>
  assert.throws(
    () => parseFilter(text, type),
    (error) => error instanceof ScimProblem && error.status === 400 && error.scimType === 'invalidFilter' && error.message !== '',
    JSON.stringify(text.slice(0, 100)),
  );

test('understands the examples of RFC 7644 §3.4.2.2', () => {
  const examples: [string, string][] = [
    ['userName eq "bjensen"', 'userName eq "bjensen"'],
    [`name.familyName co "O'Malley"`, `name.familyName co "O'Malley"`],
    ['userName sw "J"', 'userName sw "J"'],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"', 'userName sw "J"'],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', 'meta.lastModified gt 2011-05-13T04:42:34.000Z'],
    ['meta.lastModified ge "2011-05-13T04:42:34+02:00"', 'meta.lastModified ge 2011-05-13T02:42:34.000Z'],
    ['displayName pr and userName eq "x"', '[and displayName? userName eq "x"]'],
    [
      'displayName eq "E" and (emails co "example.com" or emails.value co "example.org")',
      '[and displayName eq "E" [or emails[value co "example.com"] emails[value co "example.org"]]]',
    ],
    [
      'displayName ne "E" and not (emails co "example.com" or emails.value co "example.org")',
      '[and displayName ne "E" [not [or emails[value co "example.com"] emails[value co "example.org"]]]]',
    ],
    ['displayName eq "E" and (emails.type eq "work")', '[and displayName eq "E" emails[type eq "work"]]'],
    [
      'displayName eq "E" and emails[type eq "work" and value co "@example.com"]',
      '[and displayName eq "E" emails[[and type eq "work" value co "@example.com"]]]',
    ],
  ];
  for (const [text, expected] of examples) assert.equal(shape(text), expected, text);
});

test('"and" binds tighter than "or", names and keywords have no case, and values keep theirs', () => {
  assert.equal(shape('USERNAME EQ "A" Or displayname PR aNd Active Eq TRUE'), '[or userName eq "A" [and displayName? active eq true]]');
  assert.equal(shape('(userName pr or displayName pr) and active eq true'), '[and [or userName? displayName?] active eq true]');
  assert.equal(shape('not(active eq false)'), '[not active eq false]');
  assert.equal(shape('URN:IETF:PARAMS:SCIM:SCHEMAS:CORE:2.0:USER:NAME.GIVENNAME eq "x"'), 'name.givenName eq "x"');
});

test('a part behind a value filter belongs to the same element', () => {
  assert.equal(
    shape('not (active eq true) and emails[type eq "work"].value ew "@acme.com"'),
    '[and [not active eq true] emails[[and type eq "work" value ew "@acme.com"]]]',
  );
  assert.equal(shape('name[givenName eq "A" or familyName pr]'), '[or name.givenName eq "A" name.familyName?]');
});

test('presence asks for a value, and null is the absence of one', () => {
  assert.equal(shape('emails pr'), 'emails[[or value? type? primary?]]');
  assert.equal(shape('name pr'), '[or name.formatted? name.familyName? name.givenName?]');
  assert.equal(shape('externalId eq null'), '[not externalId?]');
  assert.equal(shape('emails.type ne null'), 'emails[type?]');
});

test('clients have names, flags and lists of plain values', () => {
  assert.equal(shape('allowedScopes eq "routes:read"', oauthClientType), 'allowedScopes[value eq "routes:read"]');
  assert.equal(shape('redirectUris[value sw "https:"]', oauthClientType), 'redirectUris[value sw "https:"]');
  assert.equal(shape('urn:service:scim:2.0:OAuthClient:clientName co "x"', oauthClientType), 'clientName co "x"');
  for (const text of ['client_secret pr', 'stepUpScopes pr', 'userName pr', 'externalId pr']) refused(text, oauthClientType);
});

test('a filter that cannot be honoured is refused', () => {
  const filters = [
    '',
    '   ',
    'userName',
    'userName eq',
    'userName eq ann',
    'userName eq "ann',
    'userName eq "a\\x"',
    'userName eq "a\nb"',
    'userName eq "\\u0000"',
    'userName eq "\\ud800"',
    "userName eq 'ann'",
    'userName eq 5',
    'userName eq true',
    'userName gt null',
    'userName eq"ann"',
    'userName eq "a" "b"',
    'userName eq "a"and displayName pr',
    'userName eq "a" and',
    'userName eq "a" and(displayName pr)',
    'and userName pr',
    'userName pr userName pr',
    'userName = "ann"',
    'userName like "ann"',
    'not userName pr',
    'not (userName pr',
    '(userName pr',
    'userName pr)',
    '()',
    'not ()',
    'emails[]',
    'emails[type eq "work"',
    'emails[type eq "work"] .value eq "x"',
    'emails[type eq "work"].value',
    'emails[type eq "work"].display eq "x"',
    'emails[emails.type eq "work"]',
    'emails[value[type pr]]',
    'emails.value.type eq "x"',
    'userName[value eq "x"]',
    'userName.value eq "x"',
    'name eq "Ann"',
    'active eq "true"',
    'active gt true',
    'active co "t"',
    'active eq 1',
    'meta.created eq "yesterday"',
    'meta.created eq "2026-02-30T00:00:00Z"',
    'meta.created eq "2026-01-01T25:00:00Z"',
    'meta.created sw "2026-01-01T00:00:00Z"',
    'meta.location pr',
    'meta.resourceType eq "User"',
    'schemas eq "x"',
    'title eq "CEO"',
    'nickName pr',
    'password pr',
    'addresses[type eq "work"]',
    'phoneNumbers.value pr',
    'department eq "x"',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "x"',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:active eq true',
    'urn:ietf:params:scim:schemas:core:2.0:Group:displayName eq "x"',
    'urn:ietf:params:scim:schemas:core:2.0:User eq "x"',
    'urn:example:custom:userName eq "x"',
    'userName eq "a"; drop table users',
    'userName\teq\t"a"',
    '__proto__ pr',
    'constructor pr',
    'name.__proto__ pr',
  ];
  for (const text of filters) refused(text);
});

test('a filter has bounds', () => {
  const nested = (levels: number) => `${'('.repeat(levels)}userName pr${')'.repeat(levels)}`;
  const chained = (count: number) => Array.from({ length: count }, () => 'userName pr').join(' or ');
  const long = (length: number) => `userName eq "${'a'.repeat(length - 'userName eq ""'.length)}"`;
  for (const text of [nested(20), chained(50), long(4_096)]) parseFilter(text, userType);
  for (const text of [nested(21), `emails[${nested(20).replaceAll('userName', 'value')}]`, chained(51), long(4_097), '('.repeat(4_000)])
    refused(text);
});
