'use client';

import { type ComponentProps, type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import {
  type DefaultValues,
  type FieldPath,
  type FieldValues,
  FormProvider,
  type Resolver,
  type ResolverError,
  type UseFormProps,
  type UseFormReturn,
  useForm,
} from 'react-hook-form';
import type { z } from 'zod';
import { Callout } from './callout.tsx';
import { cn } from './cn.ts';
import { type RefusalView, refusedFields } from './refusal.ts';
import { SETTLE_MS } from './use-settled.ts';

export type ZodForm<In extends FieldValues, Out extends FieldValues = In> = UseFormReturn<In, unknown, Out>;

/**
 * A form over a family's schema: validates on blur of what was typed into, then on every change of a field that was wrong. A page that shows its
 * form at once gives the schema as something to fetch: it is there when the page has settled, and the first check waits for it.
 */
export function useZodForm<S extends z.ZodType<FieldValues, FieldValues>>(
  options: { schema: S | (() => Promise<S>); defaultValues: DefaultValues<z.input<S>> } & Omit<
    UseFormProps<z.input<S>, unknown, z.output<S>>,
    'resolver' | 'defaultValues'
  >,
): ZodForm<z.input<S>, z.output<S>> {
  const { schema, ...rest } = options;
  const [resolver] = useState(() => resolverOf(schema));
  useEffect(() => {
    const timer = setTimeout(resolver.fetch, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [resolver]);
  return useForm<z.input<S>, unknown, z.output<S>>({ mode: 'onTouched', ...rest, resolver: resolver.resolve });
}

const NOT_FETCHED = 'A part of this page could not be fetched. Look at your connection and try again; what you typed stays.';

function resolverOf<S extends z.ZodType<FieldValues, FieldValues>>(schema: S | (() => Promise<S>)) {
  type Resolve = Resolver<z.input<S>, unknown, z.output<S>>;
  const load = async (): Promise<Resolve> => {
    const [{ zodResolver }, known] = await Promise.all([
      import('@hookform/resolvers/zod'),
      typeof schema === 'function' ? schema() : schema,
    ]);
    return zodResolver(known);
  };
  let coming: Promise<Resolve> | undefined;
  const get = () => {
    coming ??= load().catch((error: unknown) => {
      coming = undefined;
      throw error;
    });
    return coming;
  };
  const resolve: Resolve = async (...input) => {
    const check = await get().catch(() => undefined);
    if (check) return check(...input);
    const errors = { root: { type: 'network', message: NOT_FETCHED } };
    return { values: {}, errors } as ResolverError<z.input<S>>;
  };
  return { resolve, fetch: () => void get().catch(() => undefined) };
}

/**
 * Puts a refusal on the fields it is about and focuses the first.
 * Returns what is left to show above the form, or undefined when a field took it.
 */
export function applyRefusal<In extends FieldValues, Out extends FieldValues>(
  form: ZodForm<In, Out>,
  refusal: RefusalView,
): RefusalView | undefined {
  const values = form.getValues();
  const named = Object.entries(refusedFields(refusal, (name) => Object.hasOwn(values, name)));
  if (named.length === 0) return refusal;
  named.forEach(([path, message], index) => {
    form.setError(path as FieldPath<In>, { type: 'server', message }, { shouldFocus: index === 0 });
  });
  return undefined;
}

export type FormProps<In extends FieldValues, Out extends FieldValues> = Omit<ComponentProps<'form'>, 'onSubmit'> & {
  form: ZodForm<In, Out>;
  onSubmit: (value: Out) => void | Promise<void>;
  /** What no field could take. */
  refusal?: RefusalView | undefined;
  children: ReactNode;
};

/** The form element: mod+Enter submits, and a refusal that belongs to no field stands on top with its request id. */
export function Form<In extends FieldValues, Out extends FieldValues>({
  form,
  onSubmit,
  refusal,
  children,
  className,
  ...rest
}: FormProps<In, Out>) {
  const submit = form.handleSubmit((value) => onSubmit(value));
  const { root } = form.formState.errors;
  const told = refusal ?? (root?.message ? { type: 'network', message: root.message } : undefined);
  useLayoutEffect(() => {
    submits.set(form.control, () => void submit());
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    void submit();
  };
  return (
    <FormProvider {...form}>
      <form noValidate {...rest} onSubmit={submit} onKeyDown={onKeyDown} className={cn('flex flex-col gap-5', className)}>
        {told && <FormRefusal refusal={told} />}
        {children}
      </form>
    </FormProvider>
  );
}

/** How the mounted form of each control submits, as it was last rendered. */
const submits = new WeakMap<object, () => void>();

/** Submits a mounted form as its button would, for what happens outside it: a repeated save, a choice made above the fields. */
export const submitAgain = <In extends FieldValues, Out extends FieldValues>(form: ZodForm<In, Out>): void => submits.get(form.control)?.();

/** Takes focus when it appears, so that it is read and seen on long forms. */
function FormRefusal({ refusal }: { refusal: RefusalView }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div ref={box} tabIndex={-1} className="rounded-lg outline-none">
      <Callout tone="bad" title={refusal.message} requestId={refusal.request_id} />
    </div>
  );
}

/**
 * The message of a field's error, by path; for the `error` of `Field`. A field that was only passed through has not been answered wrongly:
 * its message waits for something typed or for the submit, and does not push away what the pointer was on its way to.
 */
export function fieldError<In extends FieldValues, Out extends FieldValues>(
  form: ZodForm<In, Out>,
  path: FieldPath<In>,
): string | undefined {
  const { error, isDirty } = form.getFieldState(path, form.formState);
  return isDirty || form.formState.isSubmitted || error?.type === 'server' ? error?.message : undefined;
}

/** Asks for one field before the form is submitted: shows what is wrong with it and goes there. True when it is well. */
export async function insistOn<In extends FieldValues, Out extends FieldValues>(
  form: ZodForm<In, Out>,
  path: FieldPath<In>,
): Promise<boolean> {
  if (await form.trigger(path)) return true;
  const { error } = form.getFieldState(path);
  form.setError(path, { type: 'server', message: error?.message ?? 'is needed' }, { shouldFocus: true });
  return false;
}
