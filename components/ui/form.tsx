'use client';

import { zodResolver } from '@hookform/resolvers/zod';
import { type ComponentProps, type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import {
  type DefaultValues,
  type FieldPath,
  type FieldValues,
  FormProvider,
  type UseFormProps,
  type UseFormReturn,
  useForm,
} from 'react-hook-form';
import type { z } from 'zod';
import { Callout } from './callout.tsx';
import { cn } from './cn.ts';
import { type RefusalView, refusedFields } from './refusal.ts';

export type ZodForm<In extends FieldValues, Out extends FieldValues = In> = UseFormReturn<In, unknown, Out>;

/** A form over a family's schema: validates on blur of what was typed into, then on every change of a field that was wrong. */
export function useZodForm<S extends z.ZodType<FieldValues, FieldValues>>(
  options: { schema: S; defaultValues: DefaultValues<z.input<S>> } & Omit<
    UseFormProps<z.input<S>, unknown, z.output<S>>,
    'resolver' | 'defaultValues'
  >,
): ZodForm<z.input<S>, z.output<S>> {
  const { schema, ...rest } = options;
  return useForm<z.input<S>, unknown, z.output<S>>({ mode: 'onTouched', ...rest, resolver: zodResolver(schema) });
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
        {refusal && <FormRefusal refusal={refusal} />}
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
