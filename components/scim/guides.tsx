'use client';

import type { ReactNode } from 'react';
import { CopyText } from '#components/ui/copy.tsx';
import { SectionCard } from '#components/ui/layout.tsx';

const code = (text: string) => <code className="font-mono text-xs">{text}</code>;

/** What to set up at the two providers that most workspaces use. */
export function Guides({ baseUrl }: { baseUrl: string }) {
  const url = <CopyText value={baseUrl} label="base URL" className="align-baseline" />;
  return (
    <>
      <Guide
        title="Okta"
        steps={[
          <>In your SAML or OpenID Connect application, turn on SCIM provisioning under General, then open Provisioning → Integration.</>,
          <>
            Set the base URL to {url} and the unique identifier field to {code('userName')}.
          </>,
          <>Select “Push New Users” and “Push Profile Updates”. Leave “Push Groups” off.</>,
          <>Choose HTTP Header as the authentication mode, paste the token, and select Test Connector Configuration.</>,
          <>Under To App, turn on Create Users, Update User Attributes and Deactivate Users. Leave Sync Password off.</>,
        ]}
        keep={['userName', 'givenName', 'familyName', 'displayName', 'email', 'title', 'preferredLanguage', 'department', 'manager']}
        remove={['locale', 'timezone', 'nickName', 'profileUrl', 'userType', 'middleName', 'honorificPrefix', 'honorificSuffix']}
      />
      <Guide
        title="Microsoft Entra ID"
        steps={[
          <>In your enterprise application, open Provisioning and choose Automatic.</>,
          <>Set the tenant URL to {url}, paste the token as the secret token, and select Test Connection.</>,
          <>Under Mappings, turn “Provision Microsoft Entra ID Groups” off.</>,
          <>
            Open “Provision Microsoft Entra ID Users” and remove the attributes listed below. Map {code('externalId')} to {code('objectId')}
            .
          </>,
          <>Assign people to the application, then start provisioning. “Provision on demand” tries one person at once.</>,
        ]}
        keep={[
          'userName',
          'active',
          'displayName',
          'emails[type eq "work"].value',
          'name.givenName',
          'name.familyName',
          'externalId',
          'title',
          'addresses',
          'phoneNumbers',
          'department',
          'manager',
        ]}
        remove={['nickName', 'locale', 'timezone', 'userType', 'name.middleName', 'roles', 'appRoleAssignments', 'custom extensions']}
      />
    </>
  );
}

function Guide({
  title,
  steps,
  keep,
  remove,
}: {
  title: string;
  steps: readonly ReactNode[];
  keep: readonly string[];
  remove: readonly string[];
}) {
  return (
    <SectionCard title={title}>
      <ol className="flex list-decimal flex-col gap-1.5 pl-5 marker:text-ink-3">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place.
          <li key={index}>{step}</li>
        ))}
      </ol>
      <dl className="mt-4 grid gap-x-6 gap-y-3 sm:grid-cols-2">
        <Attributes label="Attributes to keep" names={keep} hint="Those without a place here are accepted and not stored." />
        <Attributes label="Attributes to remove" names={remove} hint="A call that sends a value for one is refused with invalidPath." />
      </dl>
    </SectionCard>
  );
}

function Attributes({ label, names, hint }: { label: string; names: readonly string[]; hint: string }) {
  return (
    <div>
      <dt className="font-medium text-sm">{label}</dt>
      <dd>
        <ul className="mt-1 flex flex-wrap gap-1.5">
          {names.map((name) => (
            <li key={name} className="rounded-sm border border-line-strong bg-subtle px-1.5 font-mono text-xs [overflow-wrap:anywhere]">
              {name}
            </li>
          ))}
        </ul>
        <p className="mt-1 text-ink-3 text-xs">{hint}</p>
      </dd>
    </div>
  );
}
