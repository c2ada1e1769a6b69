"""A compiled spec that can be called."""

from __future__ import annotations

import pathlib
import typing

from . import _fork, _native
from ._errors import ArgumentError, CompileError, LibraryError, StateError
from ._frameworks import CPU, Device, Framework, Jax, framework_of, is_traced

INPUT, OUTPUT, OPTIONAL_INPUT, OPTIONAL_OUTPUT, PARAMETER = range(5)
OPEN_SIZES = {-1: "batch", -2: "queries", -3: "keys"}
# Where packed sequences, which are the batch, begin, and where the last one ends.
OFFSETS = ("offsets", "key_offsets")
SEQUENCES_AND_ONE = "batch + 1"
WORKSPACE_ALIGNMENT = 64
# What a run leaves for the run of its gradients, and what that takes: the library's names begin so.
SAVED = "saved."


class TensorInfo(typing.NamedTuple):
    """A tensor of an attention: what it is, its dtype (f32, f16, bf16 or i32) and its shape, in which 'batch',
    'queries' and 'keys' stand for sizes that are known only in a call, and 'batch + 1' where sequences are packed."""

    name: str
    role: str
    dtype: str
    shape: typing.Tuple[typing.Union[int, str], ...]
    optional: bool


def _described(row: typing.Tuple[str, int, str, typing.Tuple[int, ...]]) -> TensorInfo:
    name, role, dtype, shape = row
    kind = "parameter" if role == PARAMETER else "output" if role in (OUTPUT, OPTIONAL_OUTPUT) else "input"
    sizes = tuple(SEQUENCES_AND_ONE if name in OFFSETS and size < 0 else OPEN_SIZES.get(size, size) for size in shape)
    return TensorInfo(name, kind, dtype, sizes, role in (OPTIONAL_INPUT, OPTIONAL_OUTPUT))


class Attention:
    """A compiled spec: call it with the tensors of the spec by name.

    Made by `attune.compile`. Inputs are looked at where they lie, outputs are written where they shall lie: nothing is
    copied. Any strides will do if the innermost is 1. The GIL is released while it works. Any number of threads may
    call it; their calls take turns, as each uses all of `threads`.
    """

    def __init__(self, library: pathlib.Path, name: str, device: typing.Optional[Device], threads: int,
                 isa: typing.Optional[str]) -> None:
        self.library = library
        self.name = name
        self._threads, self._isa = threads, isa
        self._making, self._enqueuing = _fork.Lock(), _fork.Lock()
        self._parameters: typing.Dict[str, typing.Any] = {}
        self._handles: typing.Dict[Device, _native.Handle] = {}
        self._cpu: typing.Optional[_native.Handle] = None
        self._gradients: typing.Optional[Attention] = None
        self._has_none = False  # no gradients: the library has been asked
        self._places_left: typing.Optional[typing.Dict[str, int]] = None
        self._is_derivative = self._known = self._ready = False
        if device is not None:
            self._handle(device)

    # What it is.

    @property
    def header(self) -> pathlib.Path:
        """The C header of the library."""
        return self.library.parent / f"{self.name}.h"

    @property
    def tensors(self) -> typing.Dict[str, TensorInfo]:
        """All tensors by name: inputs, outputs and parameters, with dtype and shape."""
        self._any_handle()
        return {info.name: info for info in self._infos}

    @property
    def parameters(self) -> typing.Dict[str, TensorInfo]:
        """Those tensors that stay the same from call to call: `prepare` takes them."""
        return {name: info for name, info in self.tensors.items() if info.role == "parameter"}

    @property
    def info(self) -> typing.Dict[str, typing.Any]:
        """summary, compiler, isa, threads, and plans: the ways of computing, each with the length from which on it is
        taken."""
        return self._any_handle().info

    @property
    def backward(self) -> "Attention":
        """The gradients that the spec asks for (`gradients`): an attention whose inputs are those of this one, and
        `grad_<output>` for each of its outputs, each 0 where it is left out; whose parameters are those of this one, prepared
        with them; and whose outputs are `grad_<name>`, of which those that are not in `out` are not written. Where it has
        inputs `saved_<name>` it computes them again unless it is given what the forward run has left in its output of that
        name, or in `<name>`:

            o, lse = numpy.empty(…), numpy.empty(…)
            attend(q=q, k=k, v=v, out={"o": o, "saved_lse": lse})
            attend.backward(q=q, k=k, v=v, grad_o=grad_o, saved_o=o, saved_lse=lse)

        Raises CompileError: the spec asks for none, or this is one of gradients.
        """
        if self._is_derivative:
            raise CompileError(f"{self.name}: expected one derivative of compiled attention, but got a derivative of its "
                               "gradients, which have none")
        gradients = self._backward_if_any()
        if gradients is None:
            raise CompileError(f"{self.name}: expected a spec that asks for gradients, but got one that does not; add "
                               "`gradients: all` to it, or names of its tensors")
        return gradients

    def __repr__(self) -> str:
        shown = (f"{info.name}: {info.dtype}[{', '.join(map(str, info.shape))}]" for info in self._infos) \
            if self._known else ()
        return f"<attune.Attention {self.name}({', '.join(shown)})>"

    # Handles, one a device.

    def _any_handle(self) -> _native.Handle:
        """One that there is; else one of what the library was compiled for."""
        return next(iter(self._handles.values()), None) or self._handle((0, 0))

    def _handle(self, device: Device) -> _native.Handle:
        with self._making:
            handle = self._handles.get(device)
            if handle is None:
                handle = _native.Handle(str(self.library), self.name, self._threads, *device, self._isa)
                self._learn(handle)
                if self._ready:
                    handle.prepare(self._parameter_row(self._parameters))
                self._handles[device] = handle
                if device[0] == CPU:
                    self._cpu = handle
            return handle

    def _learn(self, handle: _native.Handle) -> None:
        """The tensors, and where the sizes of the output are seen."""
        if self._known:
            return
        self._infos = [_described(row) for row in handle.tensors]
        self._parameter_infos = [info for info in self._infos if info.role == "parameter"]
        self._run_infos = [info for info in self._infos if info.role != "parameter"]
        self._run_names = [info.name for info in self._run_infos]
        self._needed = frozenset(info.name for info in self._run_infos if info.role == "input" and not info.optional)
        seen: typing.Dict[typing.Union[int, str], typing.Tuple[int, int, int]] = {}
        for position, info in enumerate(self._run_infos):
            for axis, size in enumerate(info.shape):
                if info.role == "input" and size == SEQUENCES_AND_ONE:
                    seen.setdefault("batch", (position, axis, 1))
                elif info.role == "input" and not info.optional:
                    seen.setdefault(size, (position, axis, 0))
        self._outputs = {position: tuple(seen[size] if isinstance(size, str) else size for size in info.shape)
                         for position, info in enumerate(self._run_infos) if info.role == "output"}
        self._shown = tuple(position for position in self._outputs if not self._run_names[position].startswith(SAVED))
        self._output_names = tuple(self._run_names[position] for position in self._shown)
        self._names = {name: info.name for info in self._infos for name in (info.name, info.name.replace(".", "_"))}
        self._ready = not self._parameter_infos
        self._known = True

    # Parameters.

    def prepare(self, parameters: typing.Optional[typing.Mapping[str, typing.Any]] = None,
                **more: typing.Any) -> "Attention":
        """Gives the parameters, which are copied, and computes what follows from them once; returns this attention.

        Names are those of the spec (`wq`, `omega`, `part0.lepe.weight`, dots as underscores too). Floating-point
        ones are rounded to the spec's dtype. Any strides will do, so `linear.weight.T` passes as `wq`. It may be
        called again.

        Raises ArgumentError: a name that is not one, one that is missing, a shape or a value that is not right.
        """
        given = {**(parameters or {}), **more}
        self._any_handle()
        row, backward = self._parameter_row(given), self._backward_if_any()
        with self._making, self._enqueuing:  # a handle of another device is made before, or finds these
            for handle in self._handles.values():
                handle.prepare(row)
            if backward is not None:  # now, for later the memory of the caller may hold other numbers
                backward.prepare(given)
            self._parameters, self._ready = given, True
        return self

    def _backward_if_any(self) -> typing.Optional["Attention"]:
        if self._is_derivative:
            return None
        with self._making:
            if self._gradients is None and not self._has_none:
                name, device = f"{self.name}_backward", next(iter(self._handles), (0, 0))
                try:
                    self._gradients = Attention(self.library, name, device, self._threads, self._isa)
                    self._gradients._is_derivative = True
                except LibraryError:
                    self._has_none = True
            return self._gradients

    def _parameter_row(self, given: typing.Mapping[str, typing.Any]) -> typing.Tuple[typing.Any, ...]:
        named = {self._name_of(name): tensor for name, tensor in given.items()}
        unknown = sorted(set(named) - {info.name for info in self._parameter_infos})
        if unknown:
            raise ArgumentError(f"{self.name}: expected parameters among {_listed(self._parameter_infos)}, but got "
                                f"'{unknown[0]}'")
        return tuple(framework_of(named[info.name]).as_parameter(named[info.name], info.dtype)
                     if info.name in named else None for info in self._parameter_infos)

    def _name_of(self, name: str) -> str:
        """The library's name of a tensor, which has underscores for dots."""
        return self._names.get(name) or self._names.get(name.replace(".", "_")) or name

    # Calls.

    def __call__(self, *unnamed: typing.Any, out: typing.Any = None, **tensors: typing.Any) -> typing.Any:
        """The output for inputs by name: `f(q=q, k=k, v=v)`, or `f(x=x)` of a spec with `projection`. A spec with
        further results gives all by name: `f(…)["lse"]`.

        Inputs have the dtype and the shape that `tensors` states, in the memory of NumPy, PyTorch, JAX or whatever has
        `__dlpack__`; NumPy holds bf16 as uint16 words, or as ml_dtypes.bfloat16. Outputs are of the framework of the
        first input, unless `out` is given: a tensor that o is written to, or a dict by name; those that are optional and
        not in it are not computed. Parameters may be given too, which prepares and runs in one piece; give them to
        `prepare` if they stay the same.

        Raises ArgumentError (which tensor, what was expected, what was found), StateError (parameters are missing).
        """
        if not self._known:
            self._any_handle()
        if unnamed:
            named = ", ".join(f"{info.name}=…" for info in self._run_infos if info.name in self._needed)
            raise ArgumentError(f"{self.name}: expected tensors by name, f({named}), but got {len(unnamed)} without")
        if self._needed != tensors.keys():
            row, given = self._arranged(tensors)
            return self._call(row, given, out)
        return self._call([tensors.get(name) for name in self._run_names], {}, out)

    def _arranged(self, tensors: typing.Mapping[str, typing.Any]) -> typing.Tuple[
            typing.List[typing.Any], typing.Dict[str, typing.Any]]:
        """The tensors of a run in their order, and parameters by name, of whatever a call gives."""
        named = {self._name_of(name): tensor for name, tensor in tensors.items()}
        given = {info.name: named.pop(info.name) for info in self._parameter_infos if info.name in named}
        inputs = [info for info in self._run_infos if info.role == "input"]
        for name in sorted(named.keys() - {info.name for info in inputs}):
            also = f", or parameters among {_listed(self._parameter_infos)}" if self._parameter_infos else ""
            raise ArgumentError(f"{self.name}: expected inputs among {_listed(inputs)}{also}, but got '{name}'")
        for info in inputs:
            if not info.optional and named.get(info.name) is None:
                raise ArgumentError(f"{self.name}: argument '{info.name}': expected a tensor, but got none; give "
                                    f"{info.name}=")
        return [named.get(name) for name in self._run_names], given

    def _call(self, row: typing.List[typing.Any], given: typing.Dict[str, typing.Any], out: typing.Any) -> typing.Any:
        """With the tensors of a run in their order, and parameters by name if they are given now."""
        first = row[0]
        framework = framework_of(first)
        if out is None and (type(framework) is Jax or given and any(map(is_traced, given.values()))):
            return self._call_in_jax(row, given)
        device = framework.device(first)
        result = self._place_outputs(framework, row, out)
        try:
            views = tuple([None if tensor is None else framework_of(tensor).view(tensor) for tensor in row])
        except (ArgumentError, BufferError, RuntimeError) as error:
            raise self._unseen(row, error) from error
        except TypeError:  # JAX's, of tensors that have no memory before the program runs
            if out is not None or not any(map(is_traced, row)):
                raise
            return self._call_in_jax(row, given)
        if device[0] != CPU:
            self._run_on_device(device, framework, first, views, given)
            return result
        handle = self._cpu or self._handle(device)
        if given:
            handle.prepare_and_run(self._parameter_row(given), views)
        elif self._ready:
            handle.run(views)
        else:
            raise StateError(f"{self.name}: expected the parameters {_listed(self._parameter_infos)}, but got none; "
                             "give them to prepare, once (attune.init draws them as the paper does)")
        return result

    def _call_in_jax(self, row: typing.List[typing.Any], given: typing.Dict[str, typing.Any]) -> typing.Any:
        from . import jax
        inputs = [None if place in self._outputs else tensor for place, tensor in enumerate(row)]
        return jax.call_row(self, inputs, given)

    def _unseen(self, row: typing.Sequence[typing.Any], error: Exception) -> ArgumentError:
        """Says which tensor's memory cannot be looked at."""
        for info, tensor in zip(self._run_infos, row):
            try:
                framework_of(tensor).view(tensor)
            except (ArgumentError, BufferError, RuntimeError):
                wanted = "" if isinstance(error, ArgumentError) else "expected a tensor whose memory can be read, but got: "
                return ArgumentError(f"{self.name}: argument '{info.name}': {wanted}{error}")
        return ArgumentError(f"{self.name}: {error}")

    def _place_outputs(self, framework: Framework, row: typing.List[typing.Any], out: typing.Any) -> typing.Any:
        """Puts the outputs into the row, and says what the caller gets. What is saved for gradients is asked for by name."""
        if out is None:
            shapes = self._output_shapes(row, self._shown)
            made = [None if shape is None else framework.empty(shape, row[0], self._own_dtype(position))
                    for position, shape in zip(self._shown, shapes)]
            for position, tensor in zip(self._shown, made):
                row[position] = tensor
            return self._returned(made)
        if not isinstance(out, dict):
            framework_of(out).check_writable(out)
            row[next(iter(self._outputs))] = out
            return out
        for name, tensor in out.items():
            position = self._run_names.index(self._name_of(name)) if self._name_of(name) in self._run_names else -1
            if position not in self._outputs:
                outputs = [self._run_infos[position] for position in self._outputs]
                raise ArgumentError(f"{self.name}: expected outputs among {_listed(outputs)}, but got '{name}'")
            framework_of(tensor).check_writable(tensor)
            row[position] = tensor
        return out

    def _returned(self, made: typing.Sequence[typing.Any]) -> typing.Any:
        """What a call gives for its outputs: the one, or all by name."""
        return made[0] if len(made) == 1 else dict(zip(self._output_names, made))

    def _own_dtype(self, position: int) -> typing.Optional[str]:
        """The dtype of an output that is not the first input's."""
        dtype = self._run_infos[position].dtype
        return None if dtype == self._run_infos[0].dtype else dtype

    def _output_shapes(self, row: typing.Sequence[typing.Any], positions: typing.Iterable[int]) -> \
            typing.List[typing.Optional[typing.Tuple[int, ...]]]:
        """None for an output whose sizes the inputs do not show: what is wrong with them, the library says."""
        def shape(sizes: typing.Tuple[typing.Any, ...]) -> typing.Optional[typing.Tuple[int, ...]]:
            try:
                return tuple([size if isinstance(size, int) else row[size[0]].shape[size[1]] - size[2] for size in sizes])
            except (IndexError, AttributeError, TypeError):
                return None
        return [shape(self._outputs[position]) for position in positions]

    def _left(self) -> typing.Dict[str, int]:
        """What a run leaves for that of its gradients: positions of outputs, by the names under which that takes them."""
        if self._places_left is None:
            backward = self._backward_if_any()
            names = [] if backward is None else [name for name in backward._run_names if name.startswith(SAVED)]
            self._places_left = {name: self._run_names.index(name if name in self._run_names else name[len(SAVED):])
                                 for name in names}
        return self._places_left

    def _run_on_device(self, device: Device, framework: Framework, first: typing.Any,
                       views: typing.Tuple[typing.Any, ...], given: typing.Dict[str, typing.Any]) -> None:
        """On the GPU of the inputs, on PyTorch's current stream; returns when the work is enqueued."""
        torch = getattr(framework, "torch", None)
        if torch is None:
            raise ArgumentError("expected tensors of PyTorch on a GPU, but got those of another framework; hand them "
                                "over with torch.from_dlpack")
        handle = self._handle(device)
        row = self._parameter_row(given) if given else None
        with self._enqueuing:  # nothing of another thread comes between parameters and their run
            if row is not None:
                handle.prepare(row)
            size = handle.workspace_bytes(views)
            memory = torch.empty(size + WORKSPACE_ALIGNMENT, dtype=torch.uint8, device=first.device)
            start = memory.data_ptr() + -memory.data_ptr() % WORKSPACE_ALIGNMENT
            handle.run_in(views, start, size, torch.cuda.current_stream(first.device).cuda_stream)


def _listed(infos: typing.Sequence[TensorInfo]) -> str:
    return ", ".join(info.name for info in infos) or "none"
