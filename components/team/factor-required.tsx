import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';

/** Why the person was sent to their Security page. */
export function FactorRequired({ workspace, href }: { workspace: string; href: string }) {
  return (
    <Callout
      tone="warn"
      title={`${workspace} requires a second factor`}
      actions={
        <LinkButton size="sm" href={href}>
          Open {workspace}
        </LinkButton>
      }
    >
      Add a passkey or an authenticator app below, then open the workspace again.
    </Callout>
  );
}
