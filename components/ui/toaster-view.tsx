'use client';

import { CircleAlert, CircleCheck, Info } from 'lucide-react';
import { useEffect } from 'react';
import { Toaster as Sonner } from 'sonner';
import { useAppearance } from '#components/theme/appearance-provider.tsx';

export { toast } from 'sonner';

let mounted: () => void;
/** From then on a notice is heard. */
export const cornerMounted = new Promise<void>((resolve) => {
  mounted = resolve;
});

/** The corner itself. */
export function ToasterView() {
  useEffect(() => mounted(), []);
  const { theme } = useAppearance();
  return (
    <Sonner
      theme={theme === 'dark' ? 'dark' : theme === 'light' ? 'light' : 'system'}
      position="bottom-right"
      gap={8}
      icons={{
        success: <CircleCheck className="size-4 text-good-ink" />,
        error: <CircleAlert className="size-4 text-bad-ink" />,
        info: <Info className="size-4 text-ink-3" />,
      }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast: 'popup-surface flex w-full items-start gap-2.5 px-3.5 py-3 font-sans text-sm sm:w-90',
          title: 'font-medium',
          description: 'text-ink-2',
          content: 'min-w-0 flex-1',
          actionButton: 'ml-auto shrink-0 rounded-sm border border-line-strong px-2 py-0.5 text-xs hover:bg-subtle',
        },
      }}
    />
  );
}
