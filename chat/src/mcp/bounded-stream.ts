// Limits the backlog of a subscription stream: a client that does not read is disconnected and resumes from its cursor.

export interface BoundedOptions {
  /** Chunks that may wait. */
  readonly limit: number;
  /** Called once. */
  readonly onEnd: () => void;
}

export function limitBacklog(response: Response, { limit, onEnd }: BoundedOptions): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const pump = async (): Promise<void> => {
          for (;;) {
            const { done, value } = await reader.read();
            if (done || ended) break;
            controller.enqueue(value);
            if ((controller.desiredSize ?? 0) <= 0) break;
          }
          end();
          await reader.cancel();
          controller.close();
        };
        pump().catch((error: unknown) => {
          end();
          controller.error(error);
        });
      },
      cancel: async (reason) => {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: limit },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}
