import {
  BarChart3,
  Bot,
  Building2,
  Cloud,
  CreditCard,
  Database,
  Globe,
  Layers,
  type LucideIcon,
  Mail,
  MessageSquare,
  ShoppingCart,
  Users,
  Zap,
} from 'lucide-react';

/** The signs that the form offers, by the names the API stores. Another name stands in the API as it was given, and shows as the plain sign. */
export const SIGNS: Record<string, { label: string; icon: LucideIcon }> = {
  layers: { label: 'Layers', icon: Layers },
  'credit-card': { label: 'Payments', icon: CreditCard },
  'shopping-cart': { label: 'Shop', icon: ShoppingCart },
  mail: { label: 'Mail', icon: Mail },
  message: { label: 'Messages', icon: MessageSquare },
  users: { label: 'People', icon: Users },
  building: { label: 'Company', icon: Building2 },
  globe: { label: 'Web', icon: Globe },
  cloud: { label: 'Cloud', icon: Cloud },
  database: { label: 'Data', icon: Database },
  chart: { label: 'Analytics', icon: BarChart3 },
  bot: { label: 'Models', icon: Bot },
  zap: { label: 'Events', icon: Zap },
};

/** The collection's sign in its colour; without either, the plain one. */
export function CollectionMark({ color, icon }: { color: string | null; icon: string | null }) {
  // The colour is data: anything but a hex colour is not put into a style.
  const safe = color && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined;
  const Sign = (icon && Object.hasOwn(SIGNS, icon) && SIGNS[icon]?.icon) || Layers;
  return (
    <span
      aria-hidden
      className="inline-flex size-7 shrink-0 items-center justify-center rounded-md border border-line-strong bg-subtle text-ink-2"
    >
      <Sign className="size-4" style={safe ? { color: `color-mix(in oklab, ${safe} 70%, var(--ink))` } : undefined} />
    </span>
  );
}
