import { attribute, dropped, ID, META, type ResourceType, SCHEMAS, type Schema } from './attribute.ts';

// The attributes of a person (interface rule 23 §4).

export const USER_URN = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE_URN = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** The longest user name, and the longest e-mail address (RFC 5321 §4.5.3.1.3). */
const ADDRESS_LENGTH = 254;

const type = (description: string) => dropped('type', description);

const core: Schema = {
  id: USER_URN,
  name: 'User',
  description: 'A person of the workspace.',
  attributes: [
    attribute('userName', 'Name that the directory knows the person by. Unique in the workspace.', {
      required: true,
      uniqueness: 'server',
      maxLength: ADDRESS_LENGTH,
    }),
    attribute('name', 'Parts of the name.', {
      type: 'complex',
      subAttributes: [attribute('formatted', 'Full name.'), attribute('familyName', 'Family name.'), attribute('givenName', 'Given name.')],
      tolerated: ['middleName', 'honorificPrefix', 'honorificSuffix'],
    }),
    attribute('displayName', 'Name to show.'),
    attribute('emails', 'Email addresses of the directory. They never change the address the person signs in with.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        attribute('value', 'The address.', { maxLength: ADDRESS_LENGTH }),
        attribute('type', 'What the address is for.', { canonicalValues: ['work', 'home', 'other'], maxLength: 100 }),
        attribute('primary', 'Whether this is the preferred address. At most one is.', { type: 'boolean' }),
        dropped('display', 'Accepted and not stored.'),
      ],
    }),
    attribute('active', 'Whether the person is a member of the workspace with an active account. Derived, never stored.', {
      type: 'boolean',
    }),
    dropped('title', 'Accepted and not stored.'),
    dropped('preferredLanguage', 'Accepted and not stored.'),
    dropped('addresses', 'Accepted and not stored.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        ...['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'].map((name) =>
          dropped(name, 'Part of the address.'),
        ),
        type('What the address is for.'),
        dropped('primary', 'Whether this is the preferred address.', { type: 'boolean' }),
      ],
    }),
    dropped('phoneNumbers', 'Accepted and not stored.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        dropped('value', 'The number.'),
        dropped('display', 'The number as it is shown.'),
        type('What the number is for.'),
        dropped('primary', 'Whether this is the preferred number.', { type: 'boolean' }),
      ],
    }),
  ],
};

const enterprise: Schema = {
  id: ENTERPRISE_URN,
  name: 'EnterpriseUser',
  description: 'Accepted from identity providers and not stored.',
  attributes: [
    ...['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map((name) => dropped(name, 'Accepted and not stored.')),
    dropped('manager', 'Accepted and not stored.', {
      type: 'complex',
      subAttributes: [
        dropped('value', 'ID of the manager.'),
        dropped('$ref', 'Address of the manager.', { type: 'reference', referenceTypes: ['User'] }),
        dropped('displayName', 'Name of the manager.'),
      ],
    }),
  ],
};

export const userType: ResourceType = {
  name: 'User',
  description: 'People of the workspace.',
  endpoint: '/Users',
  schema: core,
  extensions: [enterprise],
  common: [
    ID,
    SCHEMAS,
    attribute('externalId', "The directory's own identifier of the person.", { caseExact: true, maxLength: 255 }),
    META,
  ],
  tolerated: [
    'nickName',
    'profileUrl',
    'userType',
    'locale',
    'timezone',
    'password',
    'ims',
    'photos',
    'groups',
    'entitlements',
    'roles',
    'x509Certificates',
  ],
};
