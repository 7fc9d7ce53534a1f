import { deviceOf } from '#components/me/device.ts';
import { Callout } from '#components/ui/callout.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Time } from '#components/ui/time.tsx';
import type { DevicePageView as View } from '#server/domain/oauth-grants/view.shared.ts';
import { addressIn } from '#server/domain/tenants/country.shared.ts';
import { AppWords } from './app-words.tsx';
import { DecisionForm } from './decision-form.tsx';
import { DecisionLayout } from './decision-layout.tsx';
import { Grants } from './grants.tsx';
import { PlaceFields } from './place-fields.tsx';

export type DeviceViewProps = { handle: string; view: View; decider: { csrf: string; has_factor: boolean }; problem: string | null };

/** A device asks to act in the person's name. Whoever holds it may be far away, so the page shows all that its request said. */
export function DeviceView({ handle, view, decider, problem }: DeviceViewProps) {
  const { app, device, chosen, workspaces, beyond } = view;
  const blocked = view.problem ?? beyond ?? (chosen ? null : workspaces.length > 0 ? 'Choose a workspace to continue.' : NO_MEMBER);
  return (
    <DecisionLayout title={`Connect ${app.name} on a device?`} inTest={view.space === 'test'}>
      <DecisionForm
        action={`/oauth/device/${handle}`}
        csrf={decider.csrf}
        workspace={chosen?.slug ?? null}
        proof={view.proof}
        enrolled={decider.has_factor}
        blocked={blocked ? <Callout tone="warn" title={blocked} /> : null}
        labels={{ allow: 'Approve', deny: 'Deny' }}
        problem={problem}
      >
        {view.user_code && <input type="hidden" name="code" value={view.user_code} />}
        <section className="flex flex-col gap-3 rounded-lg border border-line-strong bg-surface px-4 py-3">
          <p className="font-medium">Compare the code with your device</p>
          {view.user_code && <p className="font-mono font-semibold text-2xl tracking-widest">{view.user_code}</p>}
          <KeyValueList
            items={[
              { label: 'Device', value: <span title={device.user_agent ?? undefined}>{deviceOf(device.user_agent)}</span> },
              { label: 'IP address', value: addressIn(device.ip, device.country, device.city) ?? 'Unknown' },
              { label: 'Started', value: <Time value={device.asked_at} /> },
            ]}
          />
          <p className="text-ink-2 text-sm">Deny if you didn’t start this login yourself, or if somebody sent you the code.</p>
        </section>
        <PlaceFields place={view} space={view.space} account={view.account} />
        {app.html && <AppWords html={app.html} name={app.name} />}
        <Grants name={app.name} place={view} />
      </DecisionForm>
    </DecisionLayout>
  );
}

const NO_MEMBER = 'You aren’t a member of the workspace this application belongs to.';
