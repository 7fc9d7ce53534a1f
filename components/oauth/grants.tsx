import type { PlaceView } from '#server/domain/oauth-grants/view.shared.ts';
import { ScopeList } from './scope-list.tsx';

/** What the login would get, what the role lacks of it, and how long it lasts. */
export function Grants({ name, place: { offer, proof } }: { name: string; place: Pick<PlaceView, 'offer' | 'proof'> }) {
  if (!offer) return null;
  return (
    <>
      {offer.scopes.length > 0 && (
        <section className="flex flex-col gap-2.5">
          <h2 className="font-medium [overflow-wrap:anywhere]">{name} will be able to</h2>
          <ScopeList scopes={offer.scopes} label="Access" />
        </section>
      )}
      {offer.missing.length > 0 && (
        <details className="text-ink-2 text-sm">
          <summary className="cursor-pointer">Not included: your role doesn’t have {offer.missing.length} of the permissions</summary>
          <p className="mt-2 font-mono text-xs leading-5 [overflow-wrap:anywhere]">{offer.missing.join(', ')}</p>
        </details>
      )}
      {offer.scopes.some(({ confirmed }) => confirmed) && (
        <p className="text-ink-2 text-sm">
          {proof === 'confirm'
            ? `For 8 hours after you confirm, ${name} can also take the actions that ask you to confirm in the dashboard.`
            : `${name} can’t take actions that ask you to confirm in the dashboard, such as destroying a key, unless you confirm the login with your second factor.`}
        </p>
      )}
      <p className="text-ink-2 text-sm">
        The login lasts until it isn’t used for 30 days, 90 days at most. It never includes secret values, and never more than your role
        allows. You can end it at any time under Connected apps.
      </p>
    </>
  );
}
