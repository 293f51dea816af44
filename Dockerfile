# One stage for each image: worker-light (extract, deliver, maintain), worker-embed, flower.
# Versions are those of locks/constraints.txt. Where PyPI's torch is a CUDA build, give an index of CPU builds:
#   docker build --target worker-embed --build-arg PIP_EXTRA_INDEX_URL=... .

ARG PYTHON_IMAGE=python:3.12-slim

FROM ${PYTHON_IMAGE} AS wheel
ARG PIP_EXTRA_INDEX_URL
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY api api
COPY tasks tasks
COPY worker worker
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

# The client: enough to save and recall, and for the workers that only wait for others.
FROM ${PYTHON_IMAGE} AS base
ARG PIP_EXTRA_INDEX_URL
ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore
RUN useradd --create-home --uid 10001 afterturn
WORKDIR /home/afterturn
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    --mount=type=bind,source=locks/constraints.txt,target=/constraints.txt \
    pip install --constraint /constraints.txt /dist/*.whl

FROM base AS worker-light
USER afterturn
# warm shutdown: running tasks end, waiting ones go back to their queue
STOPSIGNAL SIGTERM
CMD ["afterturn", "worker", "--queue", "extract"]

FROM base AS worker-embed
ARG PIP_EXTRA_INDEX_URL
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    --mount=type=bind,source=locks/constraints.txt,target=/constraints.txt \
    pip install --constraint /constraints.txt "$(echo /dist/*.whl)[worker]"
USER afterturn
STOPSIGNAL SIGTERM
CMD ["afterturn", "worker", "--queue", "embed"]

FROM base AS flower
ARG PIP_EXTRA_INDEX_URL
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    --mount=type=bind,source=locks/constraints.txt,target=/constraints.txt \
    pip install --constraint /constraints.txt "$(echo /dist/*.whl)[flower]"
USER afterturn
STOPSIGNAL SIGTERM
EXPOSE 5555
CMD ["afterturn", "flower", "--address", "0.0.0.0", "--port", "5555"]
