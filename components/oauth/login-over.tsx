import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { DecisionLayout } from './decision-layout.tsx';

/** A login that can't be decided any more, whatever ended it. */
export const LoginOver = ({ device = false }: { device?: boolean }) => (
  <DecisionLayout title="This login has ended">
    <Callout tone="warn" title="It was already decided, took longer than 10 minutes, or was opened in another session.">
      {device ? 'Enter the code again, or start the login again on your device.' : 'Go back to the application and start the login again.'}
    </Callout>
    <div>
      <LinkButton href="/" size="lg">
        Open the dashboard
      </LinkButton>
    </div>
  </DecisionLayout>
);

export const DeviceDecided = ({ decision }: { decision: 'approved' | 'denied' }) => (
  <DecisionLayout title={decision === 'approved' ? 'Device connected' : 'Login denied'}>
    <Callout
      tone={decision === 'approved' ? 'good' : 'info'}
      title={
        decision === 'approved'
          ? 'Go back to your device. It continues within a few seconds, and you can close this page.'
          : 'The device gets no access. You can close this page.'
      }
    />
    <div>
      <LinkButton href="/me/apps" size="lg">
        View connected apps
      </LinkButton>
    </div>
  </DecisionLayout>
);
