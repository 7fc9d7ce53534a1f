// Requests as Entra ID and Okta send them (interface rule 23 §6.7): their casing, their members and their order. `$DOMAIN` stands for a domain that the
// workspace has verified, `$ID` for the person that the steps before created.

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export type IdpRequest = {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query as it stands on the wire. */
  path: string;
  body?: unknown;
  status: number;
  scimType?: string;
  /** Members of the answer, or of the first resource of a list. */
  shows?: Record<string, unknown>;
  totalResults?: number;
};

const entraPerson = {
  schemas: [USER, ENTERPRISE],
  externalId: '9950b140-8c8e-4a2b-8a3e-27c2b6f1f0a1',
  userName: 'ann@$DOMAIN',
  active: true,
  addresses: [
    {
      primary: false,
      type: 'work',
      country: 'Germany',
      formatted: 'Office 12',
      locality: 'Berlin',
      postalCode: '10115',
      region: 'BE',
      streetAddress: 'Chausseestr. 1',
    },
  ],
  displayName: 'Ann Lee',
  emails: [{ primary: true, type: 'work', value: 'ann@$DOMAIN' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Ann Lee', familyName: 'Lee', givenName: 'Ann' },
  phoneNumbers: [
    { primary: true, type: 'work', value: '+49 30 1' },
    { primary: false, type: 'mobile', value: '+49 170 1' },
    { primary: false, type: 'fax', value: '+49 30 2' },
  ],
  preferredLanguage: 'de-DE',
  title: 'Engineer',
  roles: [],
  [ENTERPRISE]: { employeeNumber: '701984', department: 'Platform', manager: '26118915-6090-4610-87e4-49d8ca9f808d' },
};

/** In the order in which a provisioning job of Entra ID sends them. */
export const entraRequests: readonly IdpRequest[] = [
  {
    name: 'tests the connection with a user name that nobody has, spaces as +',
    method: 'GET',
    path: '/Users?filter=userName+eq+%22fd0d8b50-3d8e-4a6b-b3c1-0f1c9f3a8d33%22',
    status: 200,
    totalResults: 0,
  },
  {
    name: 'tests the connection, spaces as %20',
    method: 'GET',
    path: '/Users?filter=userName%20eq%20%22fd0d8b50-3d8e-4a6b-b3c1-0f1c9f3a8d33%22',
    status: 200,
    totalResults: 0,
  },
  {
    name: 'creates a person',
    method: 'POST',
    path: '/Users',
    body: entraPerson,
    status: 201,
    shows: { active: true, displayName: 'Ann Lee' },
  },
  { name: 'creates a person who is there already', method: 'POST', path: '/Users', body: entraPerson, status: 409, scimType: 'uniqueness' },
  {
    name: 'matches by user name or external ID',
    method: 'GET',
    path: `/Users?filter=${encodeURIComponent('userName eq "ANN@$DOMAIN" or externalId eq "9950b140-8c8e-4a2b-8a3e-27c2b6f1f0a1"')}`,
    status: 200,
    totalResults: 1,
    shows: { id: '$ID' },
  },
  {
    name: 'updates attributes by path',
    method: 'PATCH',
    path: '/Users/$ID',
    body: {
      schemas: [PATCH],
      Operations: [
        { op: 'Replace', path: 'displayName', value: 'Ann Marie Lee' },
        { op: 'Add', path: 'emails[type eq "work"].value', value: 'ann.lee@$DOMAIN' },
        { op: 'Add', path: 'emails[type eq "other"].value', value: 'ann@other.example' },
        { op: 'Replace', path: 'name.familyName', value: 'Lee-Young' },
        { op: 'Replace', path: 'addresses[type eq "work"].formatted', value: 'Office 13' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+49 170 2' },
        { op: 'Add', path: `${ENTERPRISE}:manager`, value: '9cbc1c4f-9cd4-4f6d-8c6f-d62c4cb8a2a7' },
        { op: 'Remove', path: 'title' },
      ],
    },
    status: 200,
    shows: {
      displayName: 'Ann Marie Lee',
      userName: 'ann@$DOMAIN',
      name: { givenName: 'Ann', familyName: 'Lee-Young', formatted: 'Ann Lee' },
      emails: [
        { value: 'ann.lee@$DOMAIN', type: 'work', primary: true },
        { value: 'ann@other.example', type: 'other' },
      ],
    },
  },
  {
    name: 'updates in the dialect of an old job: no path, dotted names, URNs',
    method: 'PATCH',
    path: '/Users/$ID',
    body: {
      schemas: [PATCH],
      Operations: [{ op: 'Add', value: { 'name.givenName': 'Anna', displayName: 'Anna Lee', [`${ENTERPRISE}:department`]: 'Security' } }],
    },
    status: 200,
    shows: { displayName: 'Anna Lee', name: { givenName: 'Anna', familyName: 'Lee-Young', formatted: 'Ann Lee' } },
  },
  {
    name: 'disables with the text "False"',
    method: 'PATCH',
    path: '/Users/$ID',
    body: { schemas: [PATCH], Operations: [{ op: 'Replace', path: 'active', value: 'False' }] },
    status: 200,
    shows: { active: false },
  },
  { name: 'finds who is disabled by ID', method: 'GET', path: '/Users/$ID', status: 200, shows: { id: '$ID', active: false } },
  {
    name: 'finds who is disabled by user name',
    method: 'GET',
    path: '/Users?filter=userName+eq+%22ann%40$DOMAIN%22',
    status: 200,
    totalResults: 1,
    shows: { id: '$ID', active: false },
  },
  {
    name: 'enables with the text "True"',
    method: 'PATCH',
    path: '/Users/$ID',
    body: { schemas: [PATCH], Operations: [{ op: 'Replace', path: 'active', value: 'True' }] },
    status: 200,
    shows: { active: true },
  },
  {
    name: 'disables with a boolean',
    method: 'PATCH',
    path: '/Users/$ID',
    body: { schemas: [PATCH], Operations: [{ op: 'Replace', path: 'active', value: false }] },
    status: 200,
    shows: { active: false },
  },
  { name: 'deletes for good', method: 'DELETE', path: '/Users/$ID', status: 204 },
  { name: 'looks for who is deleted', method: 'GET', path: '/Users/$ID', status: 404 },
];

const oktaPerson = {
  schemas: [USER],
  userName: 'ben@$DOMAIN',
  name: { givenName: 'Ben', familyName: 'Okafor' },
  emails: [{ primary: true, value: 'ben@$DOMAIN', type: 'work' }],
  displayName: 'Ben Okafor',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  active: true,
};

/** In the order in which an application of Okta sends them. */
export const oktaRequests: readonly IdpRequest[] = [
  { name: 'tests the connection', method: 'GET', path: '/Users?startIndex=1&count=1', status: 200 },
  { name: 'imports', method: 'GET', path: '/Users?startIndex=1&count=100', status: 200 },
  {
    name: 'looks for a person',
    method: 'GET',
    path: '/Users?filter=userName%20eq%20%22ben%40$DOMAIN%22&startIndex=1&count=100',
    status: 200,
    totalResults: 0,
  },
  {
    name: 'creates a person with a locale',
    method: 'POST',
    path: '/Users',
    body: { ...oktaPerson, locale: 'en-US' },
    status: 400,
    scimType: 'invalidPath',
  },
  {
    name: 'creates a person with a password',
    method: 'POST',
    path: '/Users',
    body: { ...oktaPerson, password: '1mz050nq' },
    status: 400,
    scimType: 'invalidPath',
  },
  {
    name: 'creates a person',
    method: 'POST',
    path: '/Users',
    body: oktaPerson,
    status: 201,
    shows: { active: true, userName: 'ben@$DOMAIN' },
  },
  {
    name: 'takes the ID of a person that it matched',
    method: 'GET',
    path: '/Users?filter=userName%20eq%20%22ben%40$DOMAIN%22&startIndex=1&count=100',
    status: 200,
    totalResults: 1,
    shows: { id: '$ID' },
  },
  {
    name: 'pushes the profile',
    method: 'PUT',
    path: '/Users/$ID',
    body: {
      ...oktaPerson,
      id: '$ID',
      name: { givenName: 'Benjamin', familyName: 'Okafor' },
      meta: { resourceType: 'User', location: 'https://example.com/scim/v2/Users/$ID' },
    },
    status: 200,
    shows: { name: { givenName: 'Benjamin', familyName: 'Okafor' }, active: true },
  },
  {
    name: 'deactivates without a path',
    method: 'PATCH',
    path: '/Users/$ID',
    body: { schemas: [PATCH], Operations: [{ op: 'replace', value: { active: false } }] },
    status: 200,
    shows: { active: false },
  },
  {
    name: 'pushes the profile of who is deactivated',
    method: 'PUT',
    path: '/Users/$ID',
    body: { ...oktaPerson, active: false },
    status: 200,
    shows: { active: false, name: { givenName: 'Ben', familyName: 'Okafor' } },
  },
  {
    name: 'activates without a path',
    method: 'PATCH',
    path: '/Users/$ID',
    body: { schemas: [PATCH], Operations: [{ op: 'replace', value: { active: true } }] },
    status: 200,
    shows: { active: true },
  },
];
