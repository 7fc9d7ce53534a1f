import { BadgeCheck, CircleHelp, Laptop } from 'lucide-react';
import { Badge } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { ConsentPageView as View } from '#server/domain/oauth-grants/view.shared.ts';
import { AppWords } from './app-words.tsx';
import { DecisionForm } from './decision-form.tsx';
import { DecisionLayout } from './decision-layout.tsx';
import { Grants } from './grants.tsx';
import { PlaceFields } from './place-fields.tsx';

export type ConsentViewProps = { handle: string; view: View; decider: { csrf: string; has_factor: boolean }; problem: string | null };

/** An application asks to act in the person's name: who asks, where the answer goes, in which workspace, and what it could do. */
export function ConsentView({ handle, view, decider, problem }: ConsentViewProps) {
  const { app, chosen } = view;
  const blocked = blockedBy(view);
  return (
    <DecisionLayout title={`Allow ${app.name} to use your account?`} inTest={view.space === 'test'}>
      <DecisionForm
        action={`/oauth/consent/${handle}`}
        csrf={decider.csrf}
        workspace={chosen?.slug ?? null}
        proof={view.proof}
        enrolled={decider.has_factor}
        blocked={blocked}
        labels={{ allow: 'Allow', deny: blocked ? `Return to ${app.name}` : 'Deny' }}
        problem={problem}
      >
        {app.url_host && <Unregistered app={app} host={app.url_host} redirect={view.redirect} />}
        <Destination view={view} />
        <PlaceFields place={view} space={view.space} account={view.account} />
        {app.html && <AppWords html={app.html} name={app.name} />}
        <Grants name={app.name} place={view} />
      </DecisionForm>
    </DecisionLayout>
  );
}

/** An application that nobody has registered: its name is its own claim, and only the host of its description is known. */
function Unregistered({ app, host, redirect }: { app: View['app']; host: string; redirect: View['redirect'] }) {
  return (
    <Callout tone="warn" title={`This application comes from ${host}`}>
      {redirect.kind === 'web'
        ? `It calls itself ${app.name}, and this workspace hasn’t registered it. Continue only if you trust ${host}.`
        : `It calls itself ${app.name}, this workspace hasn’t registered it, and any program on this computer can receive its answer. Continue only if you started it just now.`}
    </Callout>
  );
}

/** Where the answer goes. The name of an application is its own claim; the address is not. */
function Destination({ view: { app, redirect } }: { view: View }) {
  if (redirect.kind !== 'web')
    return (
      <p className="flex flex-wrap items-center gap-2 text-ink-2">
        <Laptop aria-hidden className="size-4 shrink-0" />
        {app.is_cli ? 'The command line of Sallyport on this computer' : 'An app on this device'}
        <span className="font-mono text-ink text-sm">{redirect.host}</span>
      </p>
    );
  return (
    <p className="flex flex-wrap items-center gap-2 text-ink-2">
      The answer goes to <span className="font-medium text-ink [overflow-wrap:anywhere]">{redirect.host}</span>
      {redirect.verified ? (
        <Badge tone="good" icon={<BadgeCheck />} title="The workspace has proved that it owns this domain.">
          Verified domain
        </Badge>
      ) : (
        <Badge icon={<CircleHelp />} title="The workspace hasn’t proved that it owns this domain.">
          Unverified domain
        </Badge>
      )}
    </p>
  );
}

function blockedBy({ problem, beyond, chosen, workspaces, fresh_sign_in }: View) {
  if (fresh_sign_in)
    return <Callout tone="warn" title="The application asks you to sign in again. Choose “Use another account” and sign in." />;
  if (problem) return <Callout tone="warn" title={problem} />;
  if (!chosen)
    return (
      <Callout
        tone="warn"
        title={
          workspaces.length > 0 ? 'Choose a workspace to continue.' : 'You aren’t a member of the workspace this application belongs to.'
        }
      />
    );
  return beyond ? <Callout tone="warn" title={`${beyond} Ask an Owner or Admin for another role.`} /> : null;
}
